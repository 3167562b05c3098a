internal import CUncurlOpenSSL

/// Calls that few connections need.
extension TLSSession {
    /// Changes the keys for what is sent from here on, and with `askingPeer` also for what the peer sends (RFC 8446
    /// §4.6.3). The message goes into the output.
    ///
    /// - Returns: false if the version is not TLS 1.3 or the state does not allow it.
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

    /// Writes one more TLS 1.3 ticket of a server to the output (RFC 8446 §4.6.1). It returns false in the same cases
    /// as ``updateKeys(askingPeer:)``.
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

    /// Asks the client of a server for a new handshake, with TLS 1.2 (RFC 5246 §7.4.1.1). The message goes into the
    /// output. No client of this project complies. It returns false in the same cases as ``updateKeys(askingPeer:)``.
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

    /// The name that the client indicated to this server (RFC 6066 §3).
    public var indicatedName: String? {
        switch role {
        case .client: return nil
        case .server:
            guard let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return nil }
            return unsafe String(cString: name)
        }
    }
}
