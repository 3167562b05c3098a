internal import COpenSSL

/// What few connections ever do.
extension TLSSession {
    /// New keys for what is sent from here on, and with `askingPeer` for what the peer sends, too (RFC 8446 §4.6.3).
    /// The message goes into the output. False: not TLS 1.3, or not the time for it.
    public func updateKeys(askingPeer: Bool) -> Bool {
        switch state {
        case .open, .peerClosed: break
        case .handshaking, .closed, .failed: return false
        }
        uncurl_forget_errors()
        let kind = askingPeer ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        guard unsafe SSL_key_update(ssl, kind) == 1 else {
            OpenSSLErrors.forget()
            return false
        }
        return unsafe uncurl_handshake(ssl) == SSL_ERROR_NONE
    }

    /// At a server: one more TLS 1.3 ticket into the output (RFC 8446 §4.6.1). False as with
    /// ``updateKeys(askingPeer:)``.
    public func sendTicket() -> Bool {
        switch state {
        case .open, .peerClosed: break
        case .handshaking, .closed, .failed: return false
        }
        uncurl_forget_errors()
        guard unsafe SSL_new_session_ticket(ssl) == 1 else {
            OpenSSLErrors.forget()
            return false
        }
        return unsafe uncurl_handshake(ssl) == SSL_ERROR_NONE
    }

    /// At a server: asks the client for a new handshake, with TLS 1.2 (RFC 5246 §7.4.1.1); the message goes into the
    /// output. No client of ours obliges. False as with ``updateKeys(askingPeer:)``.
    public func sendHelloRequest() -> Bool {
        switch state {
        case .open, .peerClosed: break
        case .handshaking, .closed, .failed: return false
        }
        uncurl_forget_errors()
        guard unsafe uncurl_renegotiate(ssl) == 1 else {
            OpenSSLErrors.forget()
            return false
        }
        return unsafe uncurl_handshake(ssl) == SSL_ERROR_NONE
    }

    /// At a server: the name that the client indicated (RFC 6066 §3).
    public var indicatedName: String? {
        switch role {
        case .client: return nil
        case .server:
            guard let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return nil }
            return unsafe String(cString: name)
        }
    }
}
