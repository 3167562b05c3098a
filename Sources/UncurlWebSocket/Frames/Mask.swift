/// A masking key (RFC 6455 §5.3): four octets, with which a client's payload is combined by exclusive or, again and
/// again.
///
/// Each frame has a new key that cannot be predicted. So no page can make a browser write octets that a proxy on the
/// way takes for a request (§10.3).
public struct Mask: Hashable, Sendable {
    /// The octets as a number, the first in the lowest place, as they are in memory.
    private let key: UInt32

    /// - Parameter key: the octets as sent, the first in the highest place.
    public init(_ key: UInt32) { self.key = key.byteSwapped }

    func octet(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: key >> UInt32(8 * (index & 3))) }

    /// Masks or unmasks `bytes` from `start` on, which is the same operation.
    ///
    /// - Parameter offset: how much of the payload came before.
    func apply(to bytes: inout [UInt8], from start: Int, offset: Int = 0) {
        let turn = UInt32(8 * (offset & 3))
        let turned = turn == 0 ? key : key >> turn | key << (32 - turn)
        let wide = UInt64(turned) << 32 | UInt64(turned)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var index = start
            // Eight octets a step: the compiler turns this into vector instructions.
            while bytes.count - index >= 8 {
                let word =
                    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ wide
                unsafe bytes.storeBytes(of: word.littleEndian, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            var rest = wide
            while index < bytes.count {
                unsafe bytes[index] ^= UInt8(truncatingIfNeeded: rest)
                rest >>= 8
                index += 1
            }
        }
    }
}
