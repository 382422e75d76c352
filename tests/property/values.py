"""Values for test_properties.py: random ones, edges, and both of them damaged.  A family is a generator function
(random, count) that yields (Column, [value, ...]) with `count` values in all or a few more."""
import datetime
import re
import struct

import reference
from reference import Column

BLANK_ENDS = [b"", b"", b"", b"", b" ", b"  ", b"\t", b"\r\n"]


def damaged(r, value, letters):
    """One to three bytes added, taken or changed."""
    v = bytearray(value)
    for _ in range(r.randint(1, 3)):
        at = r.randint(0, len(v))
        how = r.random()
        if how < 0.4:
            v[at:at] = r.choice(letters)
        elif how < 0.7:
            del v[at:at + 1]
        else:
            v[at:at + 1] = r.choice(letters)
    return bytes(v)


def bytes_of(text):
    return [c.encode() for c in text]


def values(r, make, letters, count, broken=0.3):
    """`count` values of make(), some in blanks, some damaged."""
    out = []
    for _ in range(count):
        v = make()
        if r.random() < 0.2:
            v = r.choice(BLANK_ENDS) + v + r.choice(BLANK_ENDS)
        out.append(damaged(r, v, letters) if r.random() < broken else v)
    return out


def digits(r, most):
    return "".join(r.choice("0123456789") for _ in range(r.randint(1, most)))


def integers(r, count):
    letters = bytes_of("0123456789+-.,eEx \t") + [b"\0", b"\xc3\xa9"]
    for type, (_, low, high) in reference.INTEGERS.items():
        edges = [low, high, 0, 1, -1, 10, 2**64, -2**64]

        def make():
            how = r.random()
            if how < 0.4:
                v = r.choice(edges) + r.randint(-2, 2)
            elif how < 0.8:
                v = r.randint(low, high) >> r.randint(0, high.bit_length())
            else:
                return (r.choice(["", "-", "+"]) + digits(r, 25)).encode()
            return ("%s%s" % ("+" if v >= 0 and r.random() < 0.1 else "",
                              str(v) if r.random() < 0.8 else str(v).replace("-", "-000"))).encode()
        yield Column(type), values(r, make, letters, count // 4 + 1)


def bits(r, count):
    words = ["0", "1", "true", "false", "TRUE", "False", "tRuE", "2", "-1", "yes", "no", "00", "01", "+1", "1.0", "t", "f", ""]

    def make():
        w = r.choice(words)
        return "".join(c.swapcase() if r.random() < 0.2 else c for c in w).encode()
    yield Column("bit"), values(r, make, bytes_of("01truefalsTRUE \t") + [b"\0", b"\xff"], count)


def number(r, point, whole, fraction):
    """A number's text: some with exponents, some with only one side of the point."""
    t = r.choice(["", "", "", "-", "-", "+"])
    how = r.random()
    if how < 0.15:
        t += r.choice("123456789") + "0" * r.randint(0, whole)
    elif how < 0.3:
        t += "9" * r.randint(1, max(1, whole))
    else:
        t += digits(r, max(1, whole))
    how = r.random()
    if how < 0.3:
        t += point + digits(r, fraction + 4)
    elif how < 0.6:
        # at and beside the half
        t += point + digits(r, fraction + 1)[:fraction].ljust(fraction, r.choice("0459")) + r.choice(["5", "4", "49999", "50000", "50001", "4" * 30])
    elif how < 0.65:
        t += point
    if r.random() < 0.25:
        t += r.choice("eE") + r.choice(["", "-", "+"]) + (digits(r, 2) if r.random() < 0.9 else digits(r, 9))
    return t.encode()


def decimals(r, count):
    columns = [(1, 0), (1, 1), (5, 2), (9, 0), (10, 5), (18, 6), (19, 0), (28, 14), (38, 0), (38, 10), (38, 37), (38, 38)]
    for precision, scale in columns:
        for point in ".,":
            yield (Column("decimal", precision, scale, decimal=point),
                   values(r, lambda: number(r, point, precision - scale, scale), bytes_of("0123456789+-.,eE "),
                          count // (2 * len(columns)) + 1, 0.2))


def money(r, count):
    for type in ("money", "smallmoney"):
        for point, group in ((".", ","), (",", ".")):
            high = 2**63 if type == "money" else 2**31

            def make():
                how = r.random()
                v = high * 10 if how < 0.2 else r.randint(0, high * 12) >> r.randint(0, high.bit_length())
                v += r.randint(-20, 20) if how < 0.2 else 0
                t = "%d" % (abs(v) // 100000)
                if r.random() < 0.5:
                    t = re.sub(r"(?<=[0-9])(?=(?:[0-9]{3})+$)", group, t)
                t = "0" + t if r.random() < 0.05 else t
                t += point + "%05d" % (abs(v) % 100000) if r.random() < 0.8 else ""
                sign = r.choice(["", "", "-", "+"])
                symbol = r.choice(reference.CURRENCIES + "\u20b9") if r.random() < 0.4 else ""
                t = sign + symbol + t if r.random() < 0.8 else symbol + sign + t
                return (t + ("e%d" % r.randint(-6, 6) if r.random() < 0.05 else "")).encode()
            yield (Column(type, decimal=point),
                   values(r, make, bytes_of("0123456789+-.,eE $\u20ac\u20b9(") + [b"\xc2"], count // 4 + 1))


def floats(type):
    form, size = ("<f", 4) if type == "real" else ("<d", 8)

    def of_bits(r):
        """A number of random bits, or the middle between two, written out."""
        v = struct.unpack(form, r.randbytes(size))[0]
        if v != v or abs(v) == float("inf"):
            return "0"
        text = reference.decimal.Decimal(v)
        if r.random() < 0.4:
            nearby = struct.unpack(form, (int.from_bytes(struct.pack(form, abs(v)), "little") + 1).to_bytes(size, "little"))[0]
            if nearby < float("inf"):
                # exact: where ties are rounded
                text = reference.EXACT.divide(reference.EXACT.add(abs(text), reference.decimal.Decimal(nearby)), 2)
                if r.random() < 0.5:
                    text = reference.EXACT.add(text, reference.decimal.Decimal(text).scaleb(-r.randint(20, 60)))
            return str(text)
        return r.choice([repr(v), "%.17g" % v, "%.9g" % v, "%.6g" % v])

    edges = {"float": ["1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "2.2250738585072014e-308",
                       "2.2250738585072011e-308", "4.9e-324", "1e-400", "1e309", "0", "-0", "0e999", "nan", "inf", "-Infinity",
                       "0x1p3", "1d5", "9007199254740993", "5e-324"],
             "real": ["3.4028234e38", "3.4028235e38", "3.40282356e38", "3.40282357e38", "1.1754944e-38", "1.17549435e-38",
                      "1.1754943e-38", "1e-45", "1e-50", "1e39", "0", "-0", "NaN", "inf", "16777217", "16777219",
                      "1.00000005960464477539062500000000001"]}[type]

    def family(r, count):
        for point in ".,":
            def make():
                how = r.random()
                if how < 0.1:
                    t = r.choice(edges)
                elif how < 0.7:
                    t = of_bits(r)
                else:
                    return number(r, point, 20, 10)
                return t.replace(".", point).encode()
            yield Column(type, decimal=point), values(r, make, bytes_of("0123456789+-.,eEnaix "), count // 2 + 1, 0.15)
    return family


# --- dates

EDGE_DATES = ["0001-01-01", "9999-12-31", "1753-01-01", "1752-12-31", "1900-01-01", "1899-12-31", "2079-06-06", "2079-06-07",
              "2000-02-29", "1900-02-28", "2024-02-29", "2024-12-31"]
BAD_DATES = ["0000-01-01", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "2024-01-00", "10000-01-01",
             "2024-1-1", "01/02/2024", "31-05-2024", "24-01-01", "2024/01/01", "Jan 1 2024", "2024-W01-1", "2024-001"]
EDGE_TIMES = ["00:00", "00:00:00", "23:59:59", "23:59:59.9999999", "23:59:59.99999995", "23:59:59.997", "23:59:59.998",
              "23:59:59.999", "23:59:29.998", "23:59:29.999", "23:59:30", "12:00:29.9983333333333", "12:00:29.99833333333334",
              "23:59:59.9983333333", "23:59:59.99833333333333333334", "00:00:00.0000000001", "00:00:00.000000000000", "23:59:59.5"]
BAD_TIMES = ["24:00:00", "12:60", "12:00:60", "1:00", "12", "12:00:00.", "12:00 PM", "25:00", "12:00:00:000"]
OFFSETS = ["Z", "z", "+00:00", "-00:00", "+05:30", "-14:00", "+14:00", "+14:01", "-0130", "+02", "+5", "+12:60", " Z", " +01:00"]
DATE_LETTERS = bytes_of("0123456789-:. TZ+,/") + [b"\0"]


def random_date(r):
    how = r.random()
    if how < 0.1:
        return r.choice(EDGE_DATES)
    if how < 0.15:
        return r.choice(BAD_DATES)
    first, last = (1, 3652059) if how < 0.5 else (693596, 759000)
    return datetime.date.fromordinal(r.randint(first, last)).isoformat()


def fraction(r):
    """Digits behind the point: some at a third of a tick, at a half, all nines."""
    how = r.random()
    if how < 0.3:
        return digits(r, 12)
    if how < 0.6:
        # near a boundary between two ticks of 1/300 s: (2k + 1) / 600
        n = r.randint(0, 299) * 2 + 1
        k = r.randint(3, 16)
        return ("%0*d" % (k, n * 10**k // 600 + r.randint(0, 1)))[-k:]
    n = r.randint(0, 7)
    return digits(r, n + 1)[:n] + r.choice(["5", "4999999", "9999999", "50000001", "0"])


def random_time(r):
    how = r.random()
    if how < 0.1:
        return r.choice(EDGE_TIMES)
    if how < 0.15:
        return r.choice(BAD_TIMES)
    t = "%02d:%02d" % (r.choice([0, 23, r.randint(0, 23)]), r.choice([0, 59, r.randint(0, 59)]))
    if r.random() < 0.85:
        t += ":%02d" % r.choice([0, 29, 30, 59, r.randint(0, 59)])
        if r.random() < 0.75:
            t += r.choice("...,") + fraction(r)
    return t


def iso(r, with_date, with_time, with_offset):
    t = ""
    if r.random() < with_date:
        t = random_date(r)
        if r.random() < 0.03:
            # where a carry or an offset leaves the range
            return ("%sT%s%s" % (r.choice(EDGE_DATES[:8]), r.choice(EDGE_TIMES), r.choice(OFFSETS[:8]) if with_offset else "")).encode()
        if r.random() < 0.2:
            t = t.replace("-", "")
    if r.random() < with_time:
        t += (r.choice("T  t") if t else "") + random_time(r)
        if r.random() < with_offset:
            t += r.choice(OFFSETS)
    return t.encode()


def dates(type, shares, scales=(0,)):
    def family(r, count):
        for scale in scales:
            yield (Column(type, scale=scale),
                   values(r, lambda: iso(r, *shares), DATE_LETTERS, count // len(scales) + 1, 0.2))
    return family


FORMATS = ["%d-%m-%Y", "%m/%d/%Y", "%d/%m/%y", "%d.%m.%Y", "%d %b %Y", "%B %d, %Y", "%Y%m%d", "%d%m%y", "%y%m%d", "%e.%m.%Y",
           "%d%b%Y", "%Y-%m-%d", "%b-%d-%y", "100%% %d/%m/%Y"]
TIME_FORMATS = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S%p", "%H%M%S", "%H%M", "%H.%M.%S,%f", "%H%M%S%f", "%I%p"]


def write(r, format, moment):
    """A moment in a format; leading zeros left out now and then."""
    names = {"Y": "%04d" % moment.year, "y": "%02d" % (moment.year % 100), "b": reference.MONTHS[moment.month - 1][:3],
             "B": reference.MONTHS[moment.month - 1], "p": "PM" if moment.hour > 11 else "am", "f": fraction(r),
             "z": r.choice(["Z", "+01:00", "-0330", "+05"]), "%": "%"}
    numbers = {"m": moment.month, "d": moment.day, "e": moment.day, "H": moment.hour, "I": (moment.hour + 11) % 12 + 1,
               "M": moment.minute, "S": moment.second}

    def one(m):
        letter = m[0][1]
        if letter in names:
            name = names[letter]
            return name.title() if letter in "bB" and r.random() < 0.7 else name
        return ("%d" if r.random() < 0.15 else "%02d") % numbers[letter]
    return re.sub("%.", one, format)


def date_formats(r, count):
    columns = [("date", f) for f in FORMATS]
    columns += [("time", f) for f in TIME_FORMATS]
    columns += [(type, f + " " + t) for type in ("datetime", "smalldatetime", "datetime2", "datetimeoffset")
                for f in FORMATS[::2] for t in TIME_FORMATS[::2]]
    columns += [("datetimeoffset", f + "T" + t + "%z") for f in FORMATS[1::3] for t in TIME_FORMATS[:3]]
    for type, format in columns:
        def make():
            moment = datetime.datetime(1, 1, 1) + datetime.timedelta(r.randint(0, 3652058) if r.random() < 0.3 else
                                                                     r.randint(693596, 759000), r.randint(0, 86399))
            return write(r, format, moment).encode()
        yield (Column(type, scale=r.randint(0, 7) if type in ("time", "datetime2", "datetimeoffset") else 0, format=format),
               values(r, make, DATE_LETTERS + bytes_of("aApPmMJ"), count // len(columns) + 1, 0.25))


# --- strings and bytes

BAD_UTF8 = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80", b"\xf0\x80\x80\x80",
            b"\xe0\x80\x80", b"\xc3", b"\xf8\x88\x80\x80\x80"]


def text(r, letters, least, most):
    return "".join(letters(r) for _ in range(r.randint(least, most)))


def any_letter(r):
    while True:
        high = r.choice([0x7f, 0xff, 0x7ff, 0xffff, 0x10ffff])
        n = r.choice([r.randint(0, high), high, 0, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x80, 0x800])
        if not 0xd800 <= n < 0xe000:
            return chr(n)


def wide(r, count):
    for max_bytes in (2, 20, 8000, -1):
        yield (Column("nvarchar", max_bytes=max_bytes),
               values(r, lambda: text(r, any_letter, 0, 12).encode(), BAD_UTF8, count // 4 + 1, 0.15))


def narrow(code_page):
    def family(r, count):
        # every character of the basic plane once, alone; then texts
        plane = [chr(n).encode() for n in range(0x10000) if not 0xd800 <= n < 0xe000]
        yield Column("varchar", max_bytes=4, code_page=code_page), plane if count > len(plane) else r.sample(plane, count // 2)
        known = [chr(n) for n in range(0x80, 0xd800)] if code_page == 65001 else sorted(reference.code_page(code_page))

        def letter(r):
            return r.choice(known) if r.random() < 0.98 else any_letter(r)
        for max_bytes in (3, 24, -1):
            yield (Column("varchar", max_bytes=max_bytes, code_page=code_page),
                   values(r, lambda: text(r, letter, 0, 10).encode(), BAD_UTF8, max(count - len(plane), count // 2) // 3 + 1, 0.15))
    return family


def binary(r, count):
    for max_bytes in (1, 8, -1):
        def make():
            t = r.randbytes(r.randint(0, 10)).hex()
            return (r.choice(["", "0x", "0X"]) + (t.upper() if r.random() < 0.5 else t)).encode()
        yield Column("varbinary", max_bytes=max_bytes), values(r, make, bytes_of("0123456789abcdefABCDEFxXgG -"), count // 3 + 1)


def guids(r, count):
    def make():
        t = r.randbytes(16).hex()
        if r.random() < 0.7:
            t = "-".join((t[:8], t[8:12], t[12:16], t[16:20], t[20:]))
        t = t.upper() if r.random() < 0.5 else t
        return r.choice(["%s", "%s", "%s", "{%s}", "{%s}", "(%s)", "{%s", "%s}"]).__mod__(t).encode()
    yield Column("uniqueidentifier"), values(r, make, bytes_of("0123456789abcdefgG-{} "), count)


CODE_PAGES = (437, 850, 874, 932, 936, 949, 950, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258, 65001)
FAMILIES = [
    ("integers", integers, reference.integer),
    ("bit", bits, reference.bit),
    ("decimal", decimals, reference.decimals),
    ("money", money, reference.money),
    ("float", floats("float"), reference.floating),
    ("real", floats("real"), reference.floating),
    ("date", dates("date", (0.97, 0.3, 0.2)), reference.dates),
    ("time", dates("time", (0.03, 0.97, 0.1), range(8)), reference.dates),
    ("datetime", dates("datetime", (0.97, 0.9, 0.1)), reference.dates),
    ("smalldatetime", dates("smalldatetime", (0.97, 0.9, 0.1)), reference.dates),
    ("datetime2", dates("datetime2", (0.97, 0.9, 0.1), range(8)), reference.dates),
    ("datetimeoffset", dates("datetimeoffset", (0.97, 0.9, 0.8), range(8)), reference.dates),
    ("date formats", date_formats, reference.dates),
    ("nvarchar", wide, reference.wide),
    ("varbinary", binary, reference.binary),
    ("uniqueidentifier", guids, reference.guid),
] + [("varchar %d" % n, narrow(n), reference.narrow) for n in CODE_PAGES]
