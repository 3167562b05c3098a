internal import Foundation

/// Octets that have been received and not yet read. What is taken from the front is dropped once it is half of what is
/// held, so that small reads do not move the rest each time.
struct OctetQueue: Sendable {
    private var octets: [UInt8]
    private var start = 0

    init(_ octets: [UInt8] = []) { self.octets = octets }

    var count: Int { octets.count - start }
    var isEmpty: Bool { count == 0 }
    /// All of the octets.
    var rest: [UInt8] { Array(octets[start...]) }

    mutating func append(_ bytes: Span<UInt8>) { unsafe bytes.withUnsafeBufferPointer { unsafe octets += $0 } }

    /// Takes as many octets, which must be there.
    mutating func take(_ count: Int) -> Data {
        let data = Data(octets[start..<start + count])
        drop(count)
        return data
    }

    /// Takes as many octets, which must be there, into a buffer with room for them.
    mutating func take(_ count: Int, into buffer: UnsafeMutablePointer<UInt8>) {
        unsafe octets.withUnsafeBufferPointer { bytes in
            if let first = bytes.baseAddress { unsafe buffer.update(from: first + start, count: count) }
        }
        drop(count)
    }

    private mutating func drop(_ count: Int) {
        start += count
        guard start >= octets.count - start else { return }
        octets.removeFirst(start)
        start = 0
    }
}
