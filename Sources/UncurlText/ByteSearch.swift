/// Finds a text in bytes that come in pieces, without keeping them, and in linear time whatever they are (Knuth, Morris
/// and Pratt).
package struct ByteSearch: Hashable, Sendable {
    private let needle: [UInt8]
    /// The number of matched bytes to continue with, for each place where a match can break off.
    private let fallback: [Int]

    /// A search for this text, which is not empty.
    package init(_ needle: [UInt8]) {
        self.needle = needle
        var table = [Int](repeating: 0, count: needle.count)
        var length = 0
        for index in needle.indices.dropFirst() {
            while length > 0, needle[index] != needle[length] { length = table[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            table[index] = length
        }
        fallback = table
    }

    /// Continues the search from `matched` bytes of the text. When the text is found, `matched` is its length.
    ///
    /// - Returns: how many bytes were read: up to the end of the text where it is found.
    @discardableResult
    package func advance(_ matched: inout Int, over bytes: Span<UInt8>) -> Int {
        for index in bytes.indices {
            if matched == needle.count { return index }
            while matched > 0, bytes[index] != needle[matched] { matched = fallback[matched - 1] }
            if bytes[index] == needle[matched] { matched += 1 }
        }
        return bytes.count
    }

    /// Whether so many matched bytes are the whole text.
    package func isFound(_ matched: Int) -> Bool { matched == needle.count }

    /// Returns where the text begins for the first time at `start` or after it.
    package func first(in bytes: [UInt8], from start: Int = 0) -> Int? {
        guard start <= bytes.count else { return nil }
        var matched = 0
        let read = advance(&matched, over: bytes.span.extracting(start...))
        return isFound(matched) ? start + read - needle.count : nil
    }
}
