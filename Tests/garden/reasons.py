"""Why Uncurl and most others disagree, by family and by what Uncurl does. `tools/garden` fails on a difference that has no reason here."""

REFUSED = "refused, and most take it"

REASONS = {
    ("chunk ends", REFUSED): "A chunk's line must end in CRLF (RFC 9112 §7.1). A reader that also accepts LF or CR finds the end of the content elsewhere.",
    ("chunk extension", REFUSED): "An extension consists of tokens and quoted strings (RFC 9112 §7.1.1). Control characters, CR and LF in it allow chunks to be smuggled past a proxy.",
    ("chunk size", REFUSED): "A size consists of hexadecimal digits only, and a field's name is a token. Others skip whitespace, or treat the field as unknown and read until the connection ends.",
    ("chunks in 1 0", REFUSED): "A message with Transfer-Encoding in HTTP/1.0 has faulty framing (RFC 9112 §6.1). The others disagree on its content (5 octets or 15).",
    ("connection", REFUSED): "The response was changed in one place. The result is a name that is not a token, a value with a control character, or two spaces in the status line.",
    ("content coding", REFUSED): "Coded content that ends early is an error, not shorter content. One response has a line that ends in LF alone.",
    ("content coding", "taken, with other content than by most"): "In `gzip, identity` the second coding changes nothing (RFC 9110 §8.4.1), so Uncurl decodes gzip. Most others return the coded octets.",
    ("field name", REFUSED): "A name is a token, and no whitespace is allowed before the colon (RFC 9112 §5.1). One reader would take such a field for Content-Length, and another would not know it.",
    ("field value", REFUSED): "A value must not contain CR, NUL or other control characters (RFC 9110 §5.5), and a line has a limit.",
    ("folded", REFUSED): "A session reads a fold as one space (RFC 9112 §5.2), except in a field that frames the message, and in a line that ends in LF. The parser by itself accepts folds only if its leniency allows them.",
    ("informational", REFUSED): "Uncurl refuses a 101 that no request asked for, more 1xx responses than the limit, and heads whose lines end in LF alone.",
    ("large", REFUSED): "A head has limits: for the length of a line, for the number of lines and for all octets. The limits of curl and Go are higher.",
    ("length and chunks", REFUSED): "Content-Length beside Transfer-Encoding is used for request smuggling and response splitting (RFC 9112 §6.3, item 3). Uncurl refuses it, as llhttp and aiohttp do.",
    ("line ends", REFUSED): "A line must end in CRLF (RFC 9112 §2.2). A session that accepts legacy responses also accepts LF alone. CR alone is never accepted.",
    ("more behind", REFUSED): "The response was changed in one place. Its field's name now has an octet that no token may contain.",
    ("mutated", REFUSED): "Octets were changed at random. The result is a field's name that is not a token, an LF in place of CRLF, or an unknown coding.",
    ("no colon", REFUSED): "A line without a colon, and a folded line, is not a field. Others ignore it.",
    ("odd coding", REFUSED): "After a transfer coding that is unknown, repeated, or listed after chunked, the end of the content is unknown (RFC 9112 §6.3, item 4). Most others read until the connection ends, and return the chunk lines as content.",
    ("odd coding", "taken, with other content than by most"): "`chunked,` is a list with an empty element, which a recipient ignores (RFC 9110 §5.6.1.2). So the content is chunked. The others return the chunk lines as content.",
    ("odd length", "taken, and most do not"): "`5, 5` repeats one length, and a recipient may read it as 5 (RFC 9110 §8.6).",
    ("status line", REFUSED): "Exactly one space separates version and status, the version is HTTP/1.0 or a later HTTP/1, and the reason has no control characters (RFC 9112 §4).",
    ("trailers", REFUSED): "A trailer section must follow the rules of a head, and has limits of its own. A response with an unknown coding is refused for that coding.",
    ("well formed", REFUSED): "The response was changed in one place, because the family had no further response.",
    ("two lengths", REFUSED): "With two lengths that differ, or a length that is not a number, the end of the content is unknown (RFC 9112 §6.3, item 5).",
    ("fields of others", REFUSED): "The response was changed in one place. The result is a name that is not a token, or a value with a control character.",
}
