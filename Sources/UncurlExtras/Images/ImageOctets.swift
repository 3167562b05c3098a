internal import Foundation

/// Reads numbers from an image's octets. A position beyond their end is an error, whatever its size.
struct ImageOctets {
    private let data: Data
    private let format: ImageFormat

    init(_ data: Data, _ format: ImageFormat) {
        self.data = data
        self.format = format
    }

    var count: Int { data.count }

    func octet(at place: Int) throws(ImageFailure) -> UInt8 {
        guard place >= 0, place < data.count else { throw .truncated(format) }
        return data[data.startIndex + place]
    }

    func big16(at place: Int) throws(ImageFailure) -> Int { try big(2, at: place) }
    func big24(at place: Int) throws(ImageFailure) -> Int { try big(3, at: place) }
    func big32(at place: Int) throws(ImageFailure) -> Int { try big(4, at: place) }
    func little16(at place: Int) throws(ImageFailure) -> Int { try little(2, at: place) }
    func little24(at place: Int) throws(ImageFailure) -> Int { try little(3, at: place) }
    func little32(at place: Int) throws(ImageFailure) -> Int { try little(4, at: place) }

    func holds(_ word: StaticString, at place: Int) throws(ImageFailure) -> Bool {
        for (index, letter) in word.description.utf8.enumerated() {
            guard try octet(at: place + index) == letter else { return false }
        }
        return true
    }

    private func big(_ count: Int, at place: Int) throws(ImageFailure) -> Int {
        var value = 0
        for index in 0..<count { value = value << 8 | Int(try octet(at: place + index)) }
        return value
    }

    private func little(_ count: Int, at place: Int) throws(ImageFailure) -> Int {
        var value = 0
        for index in (0..<count).reversed() { value = value << 8 | Int(try octet(at: place + index)) }
        return value
    }
}
