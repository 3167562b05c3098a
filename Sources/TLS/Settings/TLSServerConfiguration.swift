/// How a server secures its connections.
public struct TLSServerConfiguration: Sendable {
    /// PEM texts.
    public struct Certificate: Sendable {
        /// The leaf first, then what leads to the root.
        public var chain: [UInt8]
        /// The leaf's private key.
        public var key: [UInt8]

        /// A certificate from its PEM texts.
        public init(chain: [UInt8], key: [UInt8]) {
            self.chain = chain
            self.key = key
        }
    }

    /// What clients are asked for; the payload is the PEM text of the authorities to believe.
    public enum ClientCertificate: Sendable {
        /// None is asked for.
        case none
        /// One is asked for; a client without one is served.
        case optional([UInt8])
        /// A client without one is refused.
        case required([UInt8])
    }

    /// The answer to a client's ALPN offer (RFC 7301).
    public enum ApplicationProtocol: Hashable, Sendable {
        /// The protocol, for clients that offer it.
        case ifOffered(String)
        /// Answers with it whatever was offered, which no server may (RFC 7301 §3.2).
        case always(String)
        /// No ALPN answer.
        case none
    }

    /// Shown to clients that indicate no name of ``certificatesByName``.
    public var certificate: Certificate
    /// For clients that indicate one of these names.
    public var certificatesByName: [String: Certificate] = [:]
    /// What clients are asked for.
    public var clientCertificate = ClientCertificate.none
    /// The answer to clients' ALPN offers.
    public var applicationProtocol = ApplicationProtocol.ifOffered("http/1.1")
    /// The oldest version that is spoken.
    public var minimumVersion = TLSVersion.v1_2
    /// The newest version that is spoken.
    public var maximumVersion = TLSVersion.v1_3
    /// In OpenSSL's notation, for TLS 1.2.
    public var ciphers: String?
    /// The longest record that is sent, 512 to 16,384 bytes; a handshake message above it is cut in two.
    public var recordSize = TLSRecord.maximumPlaintext
    /// TLS 1.3 tickets a handshake; 0: no resumption in either version.
    public var tickets = 2

    /// An OCSP response in DER, for clients that ask for one.
    public var stapledResponse: [UInt8]?
    /// OpenSSL's. 2 refuses keys and digests below 112 bits of strength; a test server may show weak ones with 0.
    public var securityLevel: Int32 = 2

    /// A server with this certificate, and the values that the other properties begin with.
    public init(certificate: Certificate) { self.certificate = certificate }
}
