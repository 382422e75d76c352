"""What a text must become, worked out a second time: from docs/types.md, with Python's own decimal, fractions, datetime,
struct, uuid and codecs, and nothing of the loader.  Every function returns the host form's bytes (src/base/bulk.h), or None
where the text must be refused."""
import datetime
import decimal
import fractions
import functools
import re
import struct
import uuid

BLANKS = b" \t\r\n"
INTEGERS = {"tinyint": ("<B", 0, 255), "smallint": ("<h", -2**15, 2**15 - 1), "int": ("<i", -2**31, 2**31 - 1),
            "bigint": ("<q", -2**63, 2**63 - 1)}
EXACT = decimal.Context(prec=1500, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, rounding=decimal.ROUND_HALF_UP)


class Column:
    def __init__(self, type, precision=0, scale=0, max_bytes=-1, code_page=1252, decimal=".", format=""):
        self.type, self.precision, self.scale, self.max_bytes = type, precision, scale, max_bytes
        self.code_page, self.decimal, self.format = code_page, decimal, format

    def spec(self):
        return "=%s\t%d\t%d\t%d\t%d\t%s\t%s" % (self.type, self.precision, self.scale, self.max_bytes, self.code_page,
                                              self.decimal, self.format)


def ascii_of(value):
    """Numbers and dates: blanks cut off; a byte that is not ASCII cannot belong to one."""
    value = value.strip(BLANKS)
    return value.decode("ascii") if value.isascii() else ""


# --- numbers

def integer(c, value):
    t = ascii_of(value)
    if not re.fullmatch(r"[+-]?[0-9]+", t):
        return None
    form, low, high = INTEGERS[c.type]
    v = int(t)
    return struct.pack(form, v) if low <= v <= high else None


def bit(c, value):
    return {"0": b"\0", "1": b"\1", "false": b"\0", "true": b"\1"}.get(ascii_of(value).lower())


@functools.lru_cache(None)
def number_pattern(point):
    p = re.escape(point)
    return re.compile(r"([+-]?(?:[0-9]+(?:%s[0-9]*)?|%s[0-9]+))(?:[eE]([+-]?[0-9]+))?" % (p, p))


def plain_number(t, point):
    """A text with '.' for the decimal sign, or None."""
    m = number_pattern(point).fullmatch(t)
    return None if m is None else m[0].replace(point, ".")


def scaled(t, digits, scale):
    """The text times 10^scale, rounded half away from zero; None: more than `digits` digits."""
    mantissa, _, exponent = t.lower().partition("e")
    # an exponent beyond what the module holds means the same as one of a million
    v = decimal.Decimal(mantissa)
    if v == 0:
        return 0
    e = max(-10**6, min(10**6, int(exponent or 0)))
    if v.adjusted() + e > 60:
        return None
    v = int(EXACT.to_integral_value(EXACT.scaleb(v, e + scale)))
    return v if abs(v) < 10**digits else None


def decimals(c, value):
    t = plain_number(ascii_of(value), c.decimal)
    v = None if t is None else scaled(t, c.precision, c.scale)
    if v is None:
        return None
    return struct.pack("<BBB", c.precision, c.scale, v < 0) + abs(v).to_bytes(16, "little")


CURRENCIES = ("$\u00a2\u00a3\u00a4\u00a5\u09f2\u09f3\u0e3f\u17db" + "".join(map(chr, range(0x20a0, 0x20b2)))
              + "\ufdfc\ufe69\uff04\uffe0\uffe1\uffe5\uffe6")
MONEY = {point: re.compile(r"([+-]?)[%s]?([+-]?)((?:[1-9][0-9]{0,2}(?:%s[0-9]{3})+|[0-9]+)(?:%s[0-9]*)?|%s[0-9]+)((?:[eE][+-]?[0-9]+)?)"
                           % (CURRENCIES, re.escape(group), re.escape(point), re.escape(point)))
         for point, group in ((".", ","), (",", "."))}


def money(c, value):
    try:
        t = value.strip(BLANKS).decode()
    except UnicodeDecodeError:
        return None
    m = MONEY[c.decimal].fullmatch(t)
    # a second sign only behind a currency's, and only where none is in front of it
    if m is None or (m[2] and (m[1] or t[0] in "+-")):
        return None
    group = "," if c.decimal == "." else "."
    v = scaled(m[1] + m[2] + m[3].replace(group, "").replace(c.decimal, ".") + m[4], 38, 4)
    size = 4 if c.type == "smallmoney" else 8
    return None if v is None or not -(1 << size * 8 - 1) <= v < 1 << size * 8 - 1 else v.to_bytes(size, "little", signed=True)


def round_binary(exact, digits, least, most):
    """A Fraction to the nearest number of `digits` binary digits, ties to even; None: not below 2^most, or below 2^least,
    the least number of all digits."""
    n, d = abs(exact).as_integer_ratio()
    e = n.bit_length() - d.bit_length() - digits
    # one more where the quotient has a digit too many, and none finer than the least number's last
    e = max(e + (n << max(0, -e) >= d << max(0, e) + digits), least - digits + 1)
    q, r = divmod(n << max(0, -e), d << max(0, e))
    whole = d << max(0, e)
    q += 2 * r > whole or (2 * r == whole and q & 1)
    v = fractions.Fraction(q) * fractions.Fraction(2)**e
    return None if v < fractions.Fraction(2)**least or v >= fractions.Fraction(2)**most else (v if exact > 0 else -v)


def floating(c, value):
    t = plain_number(ascii_of(value), c.decimal)
    if t is None or len(value.strip(BLANKS)) > 1100:
        return None
    form = "<f" if c.type == "real" else "<d"
    mantissa, _, exponent = t.lower().partition("e")
    v = decimal.Decimal(mantissa)
    if v == 0:
        return struct.pack(form, -0.0 if t[0] == "-" else 0.0)
    e = int(exponent or 0)
    if not -400 < v.adjusted() + e < 400:
        return None
    if c.type == "float":
        # rounded by Python's own reading, which is not the C library's
        f = float(t)
        return None if abs(f) < 2.0**-1022 or abs(f) == float("inf") else struct.pack(form, f)
    f = round_binary(fractions.Fraction(v) * fractions.Fraction(10)**e, 24, -126, 128)
    return None if f is None else struct.pack(form, float(f))


# --- dates

DATE = r"(?P<Y>[0-9]{4})(?:-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})|(?P<m2>[0-9]{2})(?P<d2>[0-9]{2}))"
TIME = r"(?P<H>[0-9]{2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]+))?)?"
OFFSET = r"(?P<z>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)"
ISO = (re.compile(r"%s(?:[Tt ]%s(?: ?%s)?)?" % (DATE, TIME, OFFSET)), re.compile(r"%s(?: ?%s)?" % (TIME, OFFSET)))
MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december"]
EPOCH = datetime.date(1900, 1, 1).toordinal()
LAST_DAY = datetime.date.max.toordinal() - EPOCH
DAY = 86400


@functools.lru_cache(None)
def format_pattern(text):
    """A format as a regular expression: one or two digits, two where a digit stands beside them."""
    steps = re.findall(r"%.|[^%]", text)
    number = [s[1:] in tuple("YymdeHIMSf") if len(s) == 2 and s != "%%" else s.isdigit() for s in steps]
    out = ""
    for i, s in enumerate(steps):
        beside = (i > 0 and number[i - 1]) or (i + 1 < len(steps) and number[i + 1])
        short = "[0-9]{2}" if beside else "[0-9]{1,2}"
        names = {"%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%f": "[0-9]+", "%p": "[AaPp][Mm]", "%z": OFFSET[6:-1],
                 "%b": "(?i:%s)" % "|".join(n[:3] for n in MONTHS), "%B": "(?i:%s)" % "|".join(MONTHS)}
        if len(s) == 1 or s == "%%":
            out += re.escape(s[-1])
        else:
            out += "(?P<%s>%s)" % ("d" if s == "%e" else s[1], names.get(s, short))
    return re.compile(out)


def fields_of(c, t):
    if c.format:
        m = format_pattern(c.format).fullmatch(t)
    else:
        m = ISO[0].fullmatch(t) or ISO[1].fullmatch(t)
    return None if m is None else {k: v for k, v in m.groupdict().items() if v is not None}


def date_of(g):
    """Days since 1900-01-01; None: no such day."""
    year = int(g["Y"]) if "Y" in g else int(g["y"]) + (2000 if int(g["y"]) < 50 else 1900)
    name = (g.get("b") or g.get("B") or "").lower()
    month = 1 + [n[:3] for n in MONTHS].index(name[:3]) if name else int(g.get("m") or g["m2"])
    try:
        return datetime.date(year, month, int(g.get("d") or g["d2"])).toordinal() - EPOCH
    except ValueError:
        return None


def time_of(g):
    """Seconds since midnight, exactly, as (numerator, denominator); None: no such time."""
    hour, minute, second = int(g.get("H", 0)), int(g.get("M", 0)), int(g.get("S", 0))
    if "I" in g:
        hour = int(g["I"])
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if g["p"][0] in "Pp" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    f = g.get("f", "")
    unit = 10**len(f)
    return (hour * 3600 + minute * 60 + second) * unit + int(f or 0), unit


def offset_of(g):
    """Minutes; None: no such offset."""
    z = g.get("z", "Z")
    if z in "Zz":
        return 0
    hours, minutes = int(z[1:3]), int(z[3:].lstrip(":") or 0)
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        return None
    return (hours * 60 + minutes) * (-1 if z[0] == "-" else 1)


def half_up(n, d, units):
    """n/d seconds in 1/units of one, rounded half up."""
    return (2 * n * units + d) // (2 * d)


def new_form(days, ticks, offset, scale):
    return struct.pack("<QihB", ticks, days, offset, scale)


def dates(c, value):
    g = fields_of(c, ascii_of(value))
    if g is None:
        return None
    has_date = "Y" in g or "y" in g
    has_time = "H" in g or "I" in g
    days, time, offset = date_of(g) if has_date else 0, time_of(g), offset_of(g)
    if days is None or time is None or offset is None or (offset != 0 and c.type != "datetimeoffset"):
        return None
    if has_date if c.type == "time" else not has_date:
        return None
    if c.type == "time":
        ticks = half_up(*time, 10**c.scale) * 10**(7 - c.scale)
        return new_form(0, ticks, 0, c.scale) if has_time and ticks < DAY * 10**7 else None
    if c.type == "date":
        return new_form(days, 0, 0, 0) if time[0] == 0 else None
    if c.type == "datetime":
        carry, ticks = divmod(half_up(*time, 300), DAY * 300)
        first = datetime.date(1753, 1, 1).toordinal() - EPOCH
        return struct.pack("<ii", days + carry, ticks) if first <= days and days + carry <= LAST_DAY else None
    if c.type == "smalldatetime":
        carry, minutes = divmod((half_up(*time, 300) + 9000) // 18000, 1440)
        return struct.pack("<HH", days + carry, minutes) if 0 <= days and days + carry <= 65535 else None
    carry, ticks = divmod(half_up(*time, 10**c.scale) * 10**(7 - c.scale), DAY * 10**7)
    days += carry
    if days > LAST_DAY:
        return None
    carry, ticks = divmod(ticks - offset * 60 * 10**7, DAY * 10**7)
    days += carry
    if not 1 - EPOCH <= days <= LAST_DAY:
        return None
    return new_form(days, ticks, offset, c.scale)


# --- strings and bytes

def fits(c, out):
    return out if c.max_bytes < 0 or len(out) <= c.max_bytes else None


def wide(c, value):
    try:
        return fits(c, value.decode("utf-8", "strict").encode("utf-16-le"))
    except UnicodeDecodeError:
        return None


def rows_of_932(code):
    """Which of several codes of one character Windows writes: JIS, NEC's row 13, IBM's, last NEC's choice of IBM's."""
    return 3 if code[0] in (0xed, 0xee) else 2 if code[0] >= 0xfa else 1 if code[0] == 0x87 else 0


def is_preferred(number, ch, code, other, codec):
    """Of two codes of one character.  Python's own choice is Windows' but for 932."""
    return rows_of_932(code) < rows_of_932(other) if number == 932 else ch.encode(codec) == code


@functools.lru_cache(None)
def code_page(number):
    """Character to bytes, by decoding every code with Python's codec, and what Windows says where that differs."""
    codec = {936: "gbk", 949: "cp949", 950: "cp950"}.get(number, "cp%d" % number)
    singles = [bytes([b]) for b in range(256)]
    doubles = []
    if number in (932, 936, 949, 950):
        doubles = [bytes([a, b]) for a in range(0x81, 0xff) for b in range(0x40, 0xff)]
    table = {}
    for code in singles + doubles:
        try:
            ch = code.decode(codec)
        except UnicodeDecodeError:
            continue
        if len(ch) == 1 and (ch not in table or is_preferred(number, ch, code, table[ch], codec)):
            table[ch] = code
    if number == 932:
        # not of the page: lone bytes that only best-fit tables know
        for b in (0x80, 0xa0, 0xfd, 0xfe, 0xff):
            table.pop(bytes([b]).decode(codec), None)
    elif number == 936:
        table["\u20ac"] = b"\x80"
    elif number == 950:
        # C6A1 to C8FE are the user's in Windows, from U+F6B1 on; Python keeps what the older Big5 has there
        table = {ch: code for ch, code in table.items() if not b"\xc6\xa1" <= code <= b"\xc8\xfe"}
        trails = list(range(0x40, 0x7f)) + list(range(0xa1, 0xff))
        for i, (a, b) in enumerate([(0xc6, t) for t in trails if t >= 0xa1] + [(a, t) for a in (0xc7, 0xc8) for t in trails]):
            table[chr(0xf6b1 + i)] = bytes([a, b])
        table["\x80"] = b"\x80"
    elif number >= 1250 or number == 874:
        # Windows' holes are control characters
        for b in range(0x80, 0xa0):
            if bytes([b]) not in table.values():
                table[chr(b)] = bytes([b])
    return table


def narrow(c, value):
    try:
        text = value.decode("utf-8", "strict")
    except UnicodeDecodeError:
        return None
    if c.code_page == 65001:
        return fits(c, value)
    table = code_page(c.code_page)
    try:
        return fits(c, b"".join(map(table.__getitem__, text)))
    except KeyError:
        return None


def binary(c, value):
    t = ascii_of(value)
    if t[:2] in ("0x", "0X"):
        t = t[2:]
    if len(t) % 2 or not re.fullmatch(r"[0-9A-Fa-f]*", t) or (t == "" and not value.isascii()):
        return None
    return fits(c, bytes.fromhex(t))


def guid(c, value):
    t = ascii_of(value)
    if t[:1] == "{" and t[-1:] == "}":
        t = t[1:-1]
    h = "[0-9A-Fa-f]"
    if not re.fullmatch(r"%s{32}|%s{8}-%s{4}-%s{4}-%s{4}-%s{12}" % ((h,) * 6), t):
        return None
    return uuid.UUID(t).bytes_le
