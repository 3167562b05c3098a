internal import CUncurlOpenSSL

/// A private key. It never changes: any thread may sign with it.
@safe final class PrivateKey: Sendable {
    private let address: UInt

    /// OpenSSL's key, borrowed from this object.
    var pointer: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    /// Takes over the caller's reference.
    init(adopting pointer: OpaquePointer) { address = UInt(bitPattern: pointer) }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// Reads the first key of a PEM text: PKCS #8, encrypted or not, or an older form.
    static func pem(_ text: [UInt8], password: String?) throws(CertificateError) -> PrivateKey {
        let answer = PasswordAnswer(password)
        try checkIterations(of: blocks(of: text, password: answer))
        let key = unsafe Certificate.withBIO(text) { bio in
            unsafe PEM_read_bio_PrivateKey(bio, nil, PasswordAnswer.callback, answer.pointer)
        }
        if let key = unsafe key { return unsafe PrivateKey(adopting: key) }
        let fault = OpenSSLErrors.take()
        if answer.wasAsked { throw password == nil ? .passwordNeeded : .wrongPassword }
        // OpenSSL 3 gives the same error, "unsupported", for a text without a key and for a key that it does not know.
        if !holdsKey(text) { throw .noKey }
        throw .malformedKey(fault.text)
    }

    /// Refuses encrypted keys (RFC 5958 §3) that ask for too many iterations in all: after a key of an algorithm that
    /// it does not know, OpenSSL decrypts the next one. Each block that has their form counts, whatever its label.
    private static func checkIterations(of blocks: [[UInt8]]) throws(CertificateError) {
        var budget = DerivationBudget()
        defer { ERR_clear_error() }
        for block in blocks {
            guard let encrypted = unsafe decodedDER(block, { unsafe d2i_X509_SIG(nil, &$0, $1) }).made else { continue }
            defer { unsafe X509_SIG_free(encrypted) }
            try unsafe budget.take(encrypted)
        }
    }

    /// Returns the octets of each block. A block with a Proc-Type of `ENCRYPTED` (RFC 1421 §4.6.1.1) is decrypted, or
    /// left out if the password does not open it: a key in it may be encrypted once more.
    private static func blocks(of text: [UInt8], password: PasswordAnswer) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        _ = unsafe Certificate.eachBlock(of: text) { bio -> Bool in
            var name: UnsafeMutablePointer<CChar>? = nil
            var header: UnsafeMutablePointer<CChar>? = nil
            var data: UnsafeMutablePointer<UInt8>? = nil
            var count: CLong = 0
            guard unsafe PEM_read_bio(bio, &name, &header, &data, &count) == 1 else { return false }
            defer {
                unsafe CRYPTO_free(name, nil, 0)
                unsafe CRYPTO_free(header, nil, 0)
                unsafe CRYPTO_free(data, nil, 0)
            }
            var cipher = unsafe EVP_CIPHER_INFO()
            if unsafe PEM_get_EVP_CIPHER_INFO(header, &cipher) == 1,
                unsafe PEM_do_header(&cipher, data, &count, PasswordAnswer.callback, password.pointer) == 1
            {
                unsafe blocks.append(Array(UnsafeBufferPointer(start: data, count: count)))
            }
            return true
        }
        return blocks
    }

    /// Returns whether the text contains a PRIVATE KEY, ENCRYPTED PRIVATE KEY, EC PRIVATE KEY or the like (RFC 7468
    /// §10, RFC 5915 §4).
    private static func holdsKey(_ text: [UInt8]) -> Bool {
        let end = Array(" KEY-----".utf8)
        return text.split(separator: UInt8(ascii: "\n")).contains { line in
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return line.starts(with: Array("-----BEGIN ".utf8)) && line.suffix(end.count).elementsEqual(end)
        }
    }
}
