/// How a server secures its connections.
public struct TLSServerConfiguration: Sendable {
    /// A certificate and its key in PEM.
    public struct Certificate: Sendable {
        /// The leaf first, then the certificates up to the root.
        public var chain: [UInt8]
        /// The leaf's private key.
        public var key: [UInt8]

        /// Makes a certificate from its PEM texts.
        public init(chain: [UInt8], key: [UInt8]) {
            self.chain = chain
            self.key = key
        }
    }

    /// The certificate that clients are asked for. The payload is the PEM text of the trusted authorities.
    public enum ClientCertificate: Sendable {
        /// The server asks for no certificate.
        case none
        /// The server asks for a certificate, and serves a client without one.
        case optional([UInt8])
        /// The server refuses a client without a certificate.
        case required([UInt8])
    }

    /// The certificate for clients that indicate no name of ``certificatesByName``.
    public var certificate: Certificate
    /// The certificates for clients that indicate one of these names.
    public var certificatesByName: [String: Certificate] = [:]
    /// The certificate that clients are asked for.
    public var clientCertificate = ClientCertificate.none
    /// The answer to clients that offer this protocol by ALPN (RFC 7301). Nil for no answer.
    public var applicationProtocol: String? = "http/1.1"
    /// Whether all clients get that answer, whatever they offered, which no server may do (RFC 7301 §3.2).
    public var answersAnyOffer = false
    /// The oldest version that is allowed.
    public var minimumVersion = TLSVersion.v1_2
    /// The newest version that is allowed.
    public var maximumVersion = TLSVersion.v1_3
    /// The cipher list of TLS 1.2, in OpenSSL's notation.
    public var ciphers: String?
    /// The longest record that is sent, 512 to 16,384 bytes. A longer handshake message is cut in two.
    public var recordSize = TLSVersion.maximumPlaintext
    /// The number of TLS 1.3 tickets a handshake. With 0 there is no resumption in either version.
    public var tickets = 2

    /// An OCSP response in DER, for clients that ask for one.
    public var stapledResponse: [UInt8]?
    /// OpenSSL's security level. 2 refuses keys and digests below 112 bits of strength. With 0 a test server may show
    /// weak ones.
    public var securityLevel: Int32 = 2

    /// Makes a configuration with this certificate and the initial values of the other properties.
    public init(certificate: Certificate) { self.certificate = certificate }
}
