internal import COpenSSL

/// Looks at a server's ALPN answer itself. What becomes of one that was not offered depends on the release of OpenSSL:
/// the early ones of 3.0 let it pass, later ones end the handshake over a "bad extension".
extension TLSSession {
    func watchApplicationProtocol() {
        _ = unsafe uncurl_set_extension_callback(ssl) { ssl, _, type, bytes, count, _ in
            guard type == TLSEXT_TYPE_application_layer_protocol_negotiation, let bytes = unsafe bytes else { return }
            let answer = unsafe UnsafeBufferPointer(start: bytes, count: max(0, Int(count)))
            // RFC 7301 §3.1: two bytes of the list's length, then the one name after its own.
            if unsafe answer.dropFirst(2).elementsEqual(TLSContext.applicationProtocols) { return }
            let name = unsafe String(decoding: answer.dropFirst(3), as: UTF8.self)
            unsafe TLSSession.of(ssl)?.findings.note(strangeProtocol: name)
        }
    }
}
