/// A masking key (RFC 6455 §5.3): four octets that are laid over a client's payload, one after the other and again.
///
/// Fresh for each frame and not to be foretold, so that no page can make a browser write octets that a proxy on the way
/// takes for a request of its own (§10.3).
public struct Mask: Hashable, Sendable {
    /// The first octet in the lowest place, as they lie in memory.
    private let key: UInt32

    /// - Parameter key: the octets as sent, the first in the highest place.
    public init(_ key: UInt32) { self.key = key.byteSwapped }

    func octet(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: key >> UInt32(8 * (index & 3))) }

    /// Masks or unmasks what lies from `start` to the end of `bytes`: the same operation.
    ///
    /// - Parameter offset: how much of the payload came before.
    func apply(to bytes: inout [UInt8], from start: Int, offset: Int = 0) {
        let turn = UInt32(8 * (offset & 3))
        let turned = turn == 0 ? key : key >> turn | key << (32 - turn)
        let wide = UInt64(turned) << 32 | UInt64(turned)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var index = start
            // Eight octets a step: the compiler makes vectors of it.
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
