/// Versions of TLS by their number on the wire.
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv10 = 0x0301
    case TLSv11 = 0x0302
    case TLSv12 = 0x0303
    case TLSv13 = 0x0304
    case DTLSv10 = 0xfeff
    case DTLSv12 = 0xfefd
}

/// Cipher suites by their number in IANA's registry.
public enum tls_ciphersuite_t: UInt16, Sendable {
    case RSA_WITH_3DES_EDE_CBC_SHA = 0x000a
    case RSA_WITH_AES_128_CBC_SHA = 0x002f
    case RSA_WITH_AES_256_CBC_SHA = 0x0035
    case RSA_WITH_AES_128_GCM_SHA256 = 0x009c
    case RSA_WITH_AES_256_GCM_SHA384 = 0x009d
    case RSA_WITH_AES_128_CBC_SHA256 = 0x003c
    case RSA_WITH_AES_256_CBC_SHA256 = 0x003d
    case ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA = 0xc008
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA = 0xc009
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA = 0xc00a
    case ECDHE_RSA_WITH_3DES_EDE_CBC_SHA = 0xc012
    case ECDHE_RSA_WITH_AES_128_CBC_SHA = 0xc013
    case ECDHE_RSA_WITH_AES_256_CBC_SHA = 0xc014
    case ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 = 0xc023
    case ECDHE_ECDSA_WITH_AES_256_CBC_SHA384 = 0xc024
    case ECDHE_RSA_WITH_AES_128_CBC_SHA256 = 0xc027
    case ECDHE_RSA_WITH_AES_256_CBC_SHA384 = 0xc028
    case ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 = 0xc02b
    case ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 = 0xc02c
    case ECDHE_RSA_WITH_AES_128_GCM_SHA256 = 0xc02f
    case ECDHE_RSA_WITH_AES_256_GCM_SHA384 = 0xc030
    case ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = 0xcca8
    case ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 = 0xcca9
    case AES_128_GCM_SHA256 = 0x1301
    case AES_256_GCM_SHA384 = 0x1302
    case CHACHA20_POLY1305_SHA256 = 0x1303
}
