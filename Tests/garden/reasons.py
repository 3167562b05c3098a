"""Why Uncurl thinks otherwise than most, by family and by what it does. A difference without a sentence here fails `./dev garden`."""

REFUSED = "refused, and most take it"

REASONS = {
    ("chunk ends", REFUSED): "A chunk's line ends with CRLF alone (RFC 9112 §7.1): a reader that also takes LF or CR ends the content elsewhere than one that does not.",
    ("chunk extension", REFUSED): "An extension is tokens and quoted strings (RFC 9112 §7.1.1): controls, CR and LF in it are how chunks are smuggled past a proxy.",
    ("chunk size", REFUSED): "A size is hexadecimal digits and nothing else, and a field's name is a token; others skip blanks, or take the field for unknown and read to the end.",
    ("chunks in 1 0", REFUSED): "Transfer-Encoding in HTTP/1.0 is a message whose framing is faulty (RFC 9112 §6.1); the others do not agree on its content (5 octets or 15).",
    ("connection", REFUSED): "These were changed in one place, into a name that is no token, a value with a control, or two blanks in the status line.",
    ("content coding", REFUSED): "Coded content that ends early is an error, not a shorter content; one answer has a line that ends with LF alone.",
    ("content coding", "taken for other content than most"): "`gzip, identity`: identity changes nothing (RFC 9110 §8.4.1), so that gzip is decoded; most hand the coded octets over.",
    ("field name", REFUSED): "A name is a token, and no blank stands before the colon (RFC 9112 §5.1): such a field is Content-Length for one reader and unknown to another.",
    ("field value", REFUSED): "CR, NUL and other controls have no place in a value (RFC 9110 §5.5), and a line has its limit.",
    ("folded", REFUSED): "A session reads a folded line as one blank (RFC 9112 §5.2), but neither the fields that frame the message nor lines that end with LF; the parser alone reads no fold unless told to.",
    ("informational", REFUSED): "A 101 that was not asked for, more than the limit of 1xx answers, and heads whose lines end with LF alone.",
    ("large", REFUSED): "Heads have limits: of a line, of their number and of all octets. Those of curl and Go are higher.",
    ("length and chunks", REFUSED): "Content-Length beside Transfer-Encoding is how requests are smuggled and answers split (RFC 9112 §6.3, item 3): refused, as llhttp and aiohttp do.",
    ("line ends", REFUSED): "A line ends with CRLF. LF alone is taken where the session accepts legacy responses; CR alone never (RFC 9112 §2.2).",
    ("more behind", REFUSED): "Changed in one place: a field's name with an octet that is in no token.",
    ("mutated", REFUSED): "Changed at random: what is left is a field's name that is no token, an LF in the place of CRLF, or a coding that is unknown.",
    ("no colon", REFUSED): "A line without a colon, or a folded one, is no field; others pass over it.",
    ("odd coding", REFUSED): "A transfer coding that is unknown, repeated, or behind chunked leaves the end of the content open (RFC 9112 §6.3, item 4). Most read it to the connection's end, chunks and all.",
    ("odd coding", "taken for other content than most"): "`chunked,` is a list with an empty element, which a recipient passes over (RFC 9110 §5.6.1.2): the content is in chunks, which the others hand over as they are.",
    ("odd length", "taken, and most do not"): "`5, 5` says the same twice, which a recipient may take for 5 (RFC 9110 §8.6).",
    ("status line", REFUSED): "One blank stands between version and status, the version is HTTP/1.0 or a later one of HTTP/1, and the reason has no controls (RFC 9112 §4).",
    ("trailers", REFUSED): "A trailer section is held to the rules of a head, and to limits of its own; an unknown coding before it is refused as such.",
    ("well formed", REFUSED): "Changed in one place, where the family had no member left.",
    ("two lengths", REFUSED): "Two lengths that differ, or one that is no number, leave the content's end open (RFC 9112 §6.3, item 5).",
    ("fields of others", REFUSED): "Changed in one place: a name that is no token, or a value with a control.",
}
