internal import UncurlTLS

/// Versions of TLS by their number on the wire.
@frozen public enum tls_protocol_version_t: UInt16, Sendable {
    /// TLS 1.0, which is never used here.
    case TLSv10 = 0x0301
    /// TLS 1.1, which is never used here.
    case TLSv11 = 0x0302
    /// TLS 1.2.
    case TLSv12 = 0x0303
    /// TLS 1.3.
    case TLSv13 = 0x0304
    /// DTLS 1.0, which is never used here.
    case DTLSv10 = 0xfeff
    /// DTLS 1.2, which is never used here.
    case DTLSv12 = 0xfefd
}

/// Cipher suites by their number in IANA's registry.
@frozen public enum tls_ciphersuite_t: UInt16, Sendable {
    /// `TLS_RSA_WITH_3DES_EDE_CBC_SHA` (RFC 5246).
    case RSA_WITH_3DES_EDE_CBC_SHA = 0x000a
    /// `TLS_RSA_WITH_AES_128_CBC_SHA` (RFC 5246).
    case RSA_WITH_AES_128_CBC_SHA = 0x002f
    /// `TLS_RSA_WITH_AES_256_CBC_SHA` (RFC 5246).
    case RSA_WITH_AES_256_CBC_SHA = 0x0035
    /// `TLS_RSA_WITH_AES_128_GCM_SHA256` (RFC 5288).
    case RSA_WITH_AES_128_GCM_SHA256 = 0x009c
    /// `TLS_RSA_WITH_AES_256_GCM_SHA384` (RFC 5288).
    case RSA_WITH_AES_256_GCM_SHA384 = 0x009d
    /// `TLS_RSA_WITH_AES_128_CBC_SHA256` (RFC 5246).
    case RSA_WITH_AES_128_CBC_SHA256 = 0x003c
    /// `TLS_RSA_WITH_AES_256_CBC_SHA256` (RFC 5246).
    case RSA_WITH_AES_256_CBC_SHA256 = 0x003d
    /// `TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA` (RFC 8422).
    case ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = 0xc008
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA` (RFC 8422).
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA = 0xc009
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA` (RFC 8422).
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA = 0xc00a
    /// `TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA` (RFC 8422).
    case ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = 0xc012
    /// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA` (RFC 8422).
    case ECDHE_RSA_WITH_AES_128_CBC_SHA = 0xc013
    /// `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA` (RFC 8422).
    case ECDHE_RSA_WITH_AES_256_CBC_SHA = 0xc014
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256` (RFC 5289).
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = 0xc023
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384` (RFC 5289).
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = 0xc024
    /// `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256` (RFC 5289).
    case ECDHE_RSA_WITH_AES_128_CBC_SHA256 = 0xc027
    /// `TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384` (RFC 5289).
    case ECDHE_RSA_WITH_AES_256_CBC_SHA384 = 0xc028
    /// `TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256` (RFC 5289).
    case ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xc02b
    /// `TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384` (RFC 5289).
    case ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xc02c
    /// `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` (RFC 5289).
    case ECDHE_RSA_WITH_AES_128_GCM_SHA256 = 0xc02f
    /// `TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384` (RFC 5289).
    case ECDHE_RSA_WITH_AES_256_GCM_SHA384 = 0xc030
    /// `TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256` (RFC 7905).
    case ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = 0xcca8
    /// `TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256` (RFC 7905).
    case ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = 0xcca9
    /// `TLS_AES_128_GCM_SHA256` (RFC 8446).
    case AES_128_GCM_SHA256 = 0x1301
    /// `TLS_AES_256_GCM_SHA384` (RFC 8446).
    case AES_256_GCM_SHA384 = 0x1302
    /// `TLS_CHACHA20_POLY1305_SHA256` (RFC 8446).
    case CHACHA20_POLY1305_SHA256 = 0x1303
}

extension tls_protocol_version_t {
    init?(_ version: TLSVersion) {
        switch version {
        case .v1_2: self = .TLSv12
        case .v1_3: self = .TLSv13
        }
    }

    /// The version of TLS. Versions before 1.2 count as 1.2, the oldest that is supported.
    var tlsVersion: TLSVersion {
        switch self {
        case .TLSv13: .v1_3
        case .TLSv10, .TLSv11, .TLSv12, .DTLSv10, .DTLSv12: .v1_2
        }
    }
}

extension tls_ciphersuite_t {
    /// Makes a suite from its IANA name: "TLS_AES_128_GCM_SHA256".
    init?(ianaName name: String) {
        guard let suite = tls_ciphersuite_t.named[name] else { return nil }
        self = suite
    }

    /// The suites by name. All of IANA's for TLS have one of these first octets.
    private static let named: [String: tls_ciphersuite_t] = {
        let numbers = [0x0000, 0xc000, 0xcc00, 0x1300].flatMap { (first: UInt16) in first...(first | 0xff) }
        let suites = numbers.compactMap(tls_ciphersuite_t.init)
        return Dictionary(uniqueKeysWithValues: suites.map { ("TLS_\($0)", $0) })
    }()
}
