import TestSupport
import UncurlTestServer

/// A server of Python's `ssl`, for one connection over TLS 1.3. It asks for a client certificate after the handshake,
/// never in it. It answers lines: `ask` with `asked`, or with the reason why it cannot ask; `shown` with the
/// certificate that it has been shown, as hexadecimal DER, or with `none`.
final class AskingServer: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    let port: UInt16
    private let process: ChildProcess

    init() throws {
        let (identity, client) = (try TestCertificates.localhost, try TestCertificates.client)
        let files = [identity.chainPEM, identity.keyPEM, client.authorityPEM].map { TemporaryFile(Array($0.utf8)) }
        let output = TemporaryFile()
        process = try ChildProcess(
            "/usr/bin/python3",
            ["-c", Self.script] + files.map(\.path),
            input: .lifeline,
            output: output.path
        )
        ChildProcess.wait { [process] in output.text.hasSuffix("\n") || !process.isRunning }
        let text = output.text
        // The port is said once the files have been read.
        guard let port = UInt16(text.dropLast()) else { throw Failure(description: "Python said: \(text)") }
        self.port = port
    }

    private static let script = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.load_verify_locations(sys.argv[3])
        context.verify_mode = ssl.CERT_OPTIONAL
        context.post_handshake_auth = True
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(300)
        print(listener.getsockname()[1], flush=True)
        accepted, _ = listener.accept()
        accepted.settimeout(300)
        with context.wrap_socket(accepted, server_side=True) as peer:
            for line in peer.makefile("r"):
                if line == "ask\\n":
                    try:
                        peer.verify_client_post_handshake()
                        answer = "asked"
                    except ssl.SSLError as error:
                        answer = error.reason
                else:
                    certificate = peer.getpeercert(True)
                    answer = certificate.hex() if certificate else "none"
                peer.sendall((answer + "\\n").encode())
        """
}
