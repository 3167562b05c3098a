internal import COpenSSL

/// A private key. Never changed: any thread may sign with it.
@safe final class PrivateKey: Sendable {
    private let address: UInt

    /// Borrowed.
    var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Takes over the caller's reference.
    init(adopting pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// The first key in a PEM text: PKCS #8, encrypted or not, or an older form.
    static func pem(_ text: [UInt8], password: String?) throws(IdentityError) -> PrivateKey {
        let answer = PasswordAnswer(password)
        let key = unsafe PEMReader.withBIO(text) { bio in
            unsafe PEM_read_bio_PrivateKey(bio, nil, PasswordAnswer.callback, answer.pointer)
        }
        if let key = unsafe key { return unsafe PrivateKey(adopting: key) }
        let fault = OpenSSLErrors.take()
        if answer.wasAsked { throw password == nil ? .passwordNeeded : .wrongPassword }
        // OpenSSL 3 calls a text without a key "unsupported", as it does a key that it does not know.
        if !holdsKey(text) { throw .noKey }
        throw .malformedKey(fault.text)
    }

    /// PRIVATE KEY, ENCRYPTED PRIVATE KEY, EC PRIVATE KEY and the like (RFC 7468 §10, RFC 5915 §4).
    private static func holdsKey(_ text: [UInt8]) -> Bool {
        let end = Array(" KEY-----".utf8)
        return text.split(separator: UInt8(ascii: "\n")).contains { line in
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return line.starts(with: Array("-----BEGIN ".utf8)) && line.suffix(end.count).elementsEqual(end)
        }
    }
}

/// What OpenSSL gets when it asks for a password. There is always one, else it would ask on the terminal.
@safe final class PasswordAnswer {
    private let password: [UInt8]?
    private(set) var wasAsked = false

    init(_ password: String?) { self.password = password.map { Array($0.utf8) } }

    /// Valid as long as this object.
    var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    static let callback: @convention(c) (UnsafeMutablePointer<CChar>?, CInt, CInt, UnsafeMutableRawPointer?) -> CInt = {
        buffer,
        size,
        _,
        pointer in
        guard let buffer = unsafe buffer, let pointer = unsafe pointer else { return -1 }
        let answer = unsafe Unmanaged<PasswordAnswer>.fromOpaque(pointer).takeUnretainedValue()
        answer.wasAsked = true
        // One that is cut short would be another password.
        guard let password = answer.password, password.count <= size else { return -1 }
        for (index, byte) in password.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
        return CInt(password.count)
    }
}
