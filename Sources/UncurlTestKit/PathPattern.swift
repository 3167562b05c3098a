/// A pattern for the part of a URL before its query: one star stands for any octets but slashes, two for any octets.
///
/// The text is compared octet by octet. A set of bits holds the places in the pattern that the text so far can lead to,
/// and a step moves 64 places at once (the Shift-And algorithm). Trying all lengths for each star would take
/// exponential time.
struct PathPattern: Sendable {
    private typealias Places = [UInt64]

    /// For each octet, the places before which the pattern has it.
    private var octets: [Places]
    /// The places before a star that stands for anything, and before any star.
    private var crossings: Places
    private var stars: Places
    /// The place behind the pattern.
    private var end = 0

    init(_ text: String) {
        let none = Places(repeating: 0, count: text.utf8.count / 64 + 1)
        (octets, crossings, stars) = (Array(repeating: none, count: 256), none, none)
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "*") else {
                octets[Int(octet)].insert(end)
                end += 1
                continue
            }
            // Stars in a row are one: no star follows a star.
            let length = 1 + rest.prefix { $0 == octet }.count
            rest = rest.dropFirst(length - 1)
            stars.insert(end)
            if length > 1 { crossings.insert(end) }
            end += 1
        }
    }

    func matches(_ text: some StringProtocol) -> Bool {
        var places = Places(repeating: 0, count: stars.count)
        places[0] = 1
        passStars(&places)
        for octet in text.utf8 {
            let (own, kept) = (octets[Int(octet)], octet == UInt8(ascii: "/") ? crossings : stars)
            var carry: UInt64 = 0
            for word in places.indices {
                let moved = places[word] & own[word]
                places[word] = places[word] & kept[word] | moved << 1 | carry
                carry = moved >> 63
            }
            passStars(&places)
        }
        return places.contains(end)
    }

    /// Adds the places behind stars: a star also stands for no octet.
    private func passStars(_ places: inout Places) {
        var carry: UInt64 = 0
        for word in places.indices {
            let passed = places[word] & stars[word]
            places[word] |= passed << 1 | carry
            carry = passed >> 63
        }
    }
}

extension [UInt64] {
    fileprivate mutating func insert(_ bit: Int) { self[bit / 64] |= 1 << (bit % 64) }

    fileprivate func contains(_ bit: Int) -> Bool { self[bit / 64] >> (bit % 64) & 1 == 1 }
}
