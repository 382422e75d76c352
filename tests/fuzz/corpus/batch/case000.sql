SELECT 1, 2147483648, 1.50, .5, 1e3, 1e, $1.5, $, 0xABC, 0x, 'a''b', N'\u00e9', NULL
