/// A run of combining marks out of their order, of 128 KiB: `String` compares it with another text in a second.
let marks = String(repeating: "\u{301}\u{323}", count: 32_000)
