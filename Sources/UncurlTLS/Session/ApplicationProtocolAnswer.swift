/// A server's answer to ALPN, at an address that OpenSSL may keep during a handshake.
@safe final class ApplicationProtocolAnswer: Sendable {
    let isOnlyIfOffered: Bool
    let count: UInt8
    private let address: UInt

    /// Returns nil for no answer.
    init?(_ answer: TLSServerConfiguration.ApplicationProtocol) throws(TLSError) {
        let name: String
        switch answer {
        case .ifOffered(let wanted): (name, isOnlyIfOffered) = (wanted, true)
        case .always(let wanted): (name, isOnlyIfOffered) = (wanted, false)
        case .none: return nil
        }
        // RFC 7301 §3.1.
        guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
            throw .configuration("“\(name)” is no application protocol")
        }
        self.count = count
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Int(count))
        _ = unsafe copy.initialize(fromContentsOf: Array(name.utf8))
        address = UInt(bitPattern: copy.baseAddress)
    }

    deinit { unsafe UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate() }

    var bytes: UnsafePointer<UInt8>? { unsafe UnsafePointer(bitPattern: address) }

    /// Returns whether a client's list contains the name. RFC 7301 §3.1: it has names, each after its length.
    func isIn(_ list: UnsafeBufferPointer<UInt8>) -> Bool {
        let name = unsafe UnsafeBufferPointer(start: bytes, count: Int(count))
        var rest = unsafe list[...]
        while let size = unsafe rest.first.map(Int.init), unsafe size < rest.count {
            if unsafe rest.dropFirst().prefix(size).elementsEqual(name) { return true }
            unsafe rest = unsafe rest.dropFirst(1 + size)
        }
        return false
    }
}
