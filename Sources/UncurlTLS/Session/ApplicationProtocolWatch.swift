internal import CUncurlOpenSSL

/// The check of a server's ALPN answer. OpenSSL's treatment of one that was not offered depends on the release: the
/// early ones of 3.0 let it pass, later ones end the handshake with a "bad extension".
extension TLSSession {
    func watchApplicationProtocol() {
        _ = unsafe uncurl_set_extension_callback(ssl) { ssl, _, type, bytes, count, _ in
            guard type == TLSEXT_TYPE_application_layer_protocol_negotiation, let bytes = unsafe bytes else { return }
            let answer = unsafe UnsafeBufferPointer(start: bytes, count: max(0, Int(count)))
            // RFC 7301 §3.1: the list's length in two bytes, then the length of the one name, then the name.
            if unsafe answer.dropFirst(2).elementsEqual(TLSContext.applicationProtocols) { return }
            let name = unsafe String(decoding: answer.dropFirst(3), as: UTF8.self)
            unsafe TLSSession.of(ssl)?.findings.note(strangeProtocol: name)
        }
    }
}
