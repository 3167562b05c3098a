internal import CUncurlOpenSSL
internal import Glibc

/// A session of OpenSSL's, with what was known of the peer when it was made.
///
/// OpenSSL counts the references of an `SSL_SESSION` atomically, and nothing changes one that is out of its connection.
/// So it may go from thread to thread.
@safe final class CachedSession: Sendable {
    private let address: UInt
    let provenance: Provenance

    /// Takes over one reference.
    init(taking session: OpaquePointer, made provenance: Provenance) {
        address = UInt(bitPattern: session)
        self.provenance = provenance
    }

    deinit { unsafe SSL_SESSION_free(handle) }

    var handle: OpaquePointer? { unsafe OpaquePointer(bitPattern: address) }

    var isForOneUse: Bool { unsafe SSL_SESSION_get_protocol_version(handle) >= TLS1_3_VERSION }

    /// Whether the session is not marked as spoilt, its lifetime has not passed, and its certificate has not expired
    /// since.
    var isUsable: Bool {
        guard unsafe SSL_SESSION_is_resumable(handle) == 1 else { return false }
        let age = unsafe time(nil) - SSL_SESSION_get_time(handle)
        // OpenSSL reads a finer clock from 3.3 on: for some milliseconds, `time` may return the second before.
        guard age >= -1, unsafe age < SSL_SESSION_get_timeout(handle) else { return false }
        // The lifetime that the server promised. With 0, a server of TLS 1.2 did not say (RFC 5077 §3.3), and a ticket
        // of TLS 1.3 must be discarded at once (RFC 8446 §4.6.1).
        let hint = unsafe SSL_SESSION_get_ticket_lifetime_hint(handle)
        guard hint == 0 ? !isForOneUse : age < Int(clamping: hint) else { return false }
        guard let certificate = unsafe SSL_SESSION_get0_peer(handle) else { return true }
        return unsafe X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
    }
}
