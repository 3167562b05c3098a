@testable import UncurlEngine
@testable import UncurlHTTP1
@testable import UncurlReactor
@testable import UncurlSemantics
@testable import UncurlTLS
@testable import UncurlWebSocket

/// One of each case of the errors of the modules without Foundation, with a part of what it must say.
enum EngineErrors {
    private static let address = SocketAddress.v4(IPv4Address(bits: 0x7F00_0001), port: 443)
    private static let connect = ConnectError(
        attempts: [ConnectError.Attempt(address: address, errno: .connectionRefused)],
        resolution: nil
    )
    private static let date = CertificateDate(secondsSince1970: 1_800_000_000)
    private static let syntax = HTTP1Error(.missingColon, offset: 17)
    private static var refusal: ProxyRefusal {
        var head = ResponseHead()
        if let given = try? ResponseHead(status: 403, reason: "No") { head = given }
        return ProxyRefusal(head)
    }
    private static let untrusted = TLSTrustFailure(reason: .selfSigned, code: 18)
    private static let roots = TrustStoreError(attempts: ["/x: it is gone"])

    static var table: [ErrorWords] { messages + loop + security + webSocket + engine + places }

    private static let messages: [ErrorWords] =
        kinds.map { ErrorWords(HTTP1Error($0, offset: 17), "octet 17") } + [
            ErrorWords(AuthenticationError.colonInUser, "colon"),
            ErrorWords(AuthenticationError.contentNeeded, "content"),
            ErrorWords(AuthenticationError.controlCharacter, "control"),
            ErrorWords(AuthenticationError.hashUnavailable, "hash"),
        ]

    private static let kinds: [HTTP1Error.Kind] = [
        .bareCarriageReturn, .bareLineFeed, .chunkSizeOverflow, .chunkedNotFinal, .chunkedRepeated,
        .contentLengthWithTransferEncoding, .differingContentLengths, .emptyFieldName, .forbiddenTrailer,
        .framingForbiddenByStatus, .invalidChunkExtension, .invalidChunkSize, .invalidContentLength,
        .invalidFieldName(byte: 7), .invalidFieldValue(byte: 7), .invalidHost, .invalidMethod, .invalidReason(byte: 7),
        .invalidRequestLine, .invalidStatusCode, .invalidStatusLine, .invalidTarget, .invalidTransferEncoding,
        .limitExceeded(.headBytes), .missingChunkDataEnd, .missingColon, .missingHost, .obsoleteLineFolding,
        .repeatedContentLength, .repeatedHost, .tlsAlert, .transferEncodingInHTTP10,
        .truncatedBody(expected: 10, received: 4), .truncatedHead, .unexpectedUpgrade, .unsupportedTransferCoding,
        .unsupportedVersion, .whitespaceBeforeColon, .whitespaceBeforeFirstField,
    ]

    private static let loop: [ErrorWords] = [
        ErrorWords(connect, "127.0.0.1:443"), ErrorWords(Errno.connectionReset, "ECONNRESET"),
        ErrorWords(ResolveError.emptyName, "empty"), ErrorWords(ResolveError.invalidName, "name"),
        ErrorWords(ResolveError.nameTooLong, "long"), ErrorWords(ResolveError.noAddress, "address"),
        ErrorWords(ResolveError.noSuchHost, "host"), ErrorWords(ResolveError.other(code: 99), "99"),
        ErrorWords(ResolveError.serverFailure, "server"), ErrorWords(ResolveError.shutDown, "shut down"),
        ErrorWords(ResolveError.system(.outOfMemory), "ENOMEM"), ErrorWords(ResolveError.temporaryFailure, "name"),
        ErrorWords(ResolveError.tooManyLookups, "look"), ErrorWords(OpenFile.Problem.system(.noSuchFile), "ENOENT"),
        ErrorWords(OpenFile.Problem.notRegular, "no regular file"), ErrorWords(BlockingPool.Refusal.queueFull, "full"),
        ErrorWords(BlockingPool.Refusal.shutDown, "shut down"),
        ErrorWords(BlockingPool.Refusal.noThread(.wouldBlock), "EAGAIN"),
    ]

    private static let security: [ErrorWords] =
        reasons.map { ErrorWords(TLSTrustFailure(reason: $0, subject: "CN=a.test", code: 1), "") }
        + staples.map { ErrorWords(TLSTrustFailure(reason: .stapleUnusable($0), code: 1), "") } + [
            ErrorWords(CertificateError.keyMismatch, "key"),
            ErrorWords(CertificateError.legacyEncryption("RC2"), "RC2"),
            ErrorWords(CertificateError.malformedCertificate("bad tag"), "bad tag"),
            ErrorWords(CertificateError.malformedKey("bad tag"), "bad tag"),
            ErrorWords(CertificateError.malformedPKCS12("bad tag"), "bad tag"),
            ErrorWords(CertificateError.noCertificate, "certificate"), ErrorWords(CertificateError.noKey, "key"),
            ErrorWords(CertificateError.passwordNeeded, "password"),
            ErrorWords(CertificateError.refused("too weak"), "too weak"),
            ErrorWords(CertificateError.tooManyIterations(limit: 2_000_000), "2000000 iterations"),
            ErrorWords(CertificateError.unreadable(path: "/x.pem", reason: "it is gone"), "/x.pem"),
            ErrorWords(CertificateError.wrongPassword, "password"), ErrorWords(PinError.digestLength(31), "31"),
            ErrorWords(PinError.notBase64("%%"), "%%"), ErrorWords(PinError.unknownForm("md5/x"), "md5/x"),
            ErrorWords(CertificateError.malformedRevocationList("bad tag"), "bad tag"),
            ErrorWords(CertificateError.noRevocationList, "list"), ErrorWords(roots, "/x"),
            ErrorWords(TLSError.alert(TLSAlert(code: 40)), "handshake"),
            ErrorWords(TLSError.closeNotifyInHandshake, "handshake"), ErrorWords(TLSError.closed, "closed"),
            ErrorWords(TLSError.closedInHandshake, "handshake"),
            ErrorWords(TLSError.configuration("no such cipher"), "cipher"),
            ErrorWords(TLSError.corruptRecord, "record"), ErrorWords(TLSError.downgraded, "version"),
            ErrorWords(TLSError.identity(.noKey), "key"), ErrorWords(TLSError.invalidServerName("a b"), "a b"),
            ErrorWords(TLSError.noSharedCipher, "cipher"),
            ErrorWords(TLSError.notTLS(firstBytes: [0x53, 0x53]), "TLS"),
            ErrorWords(TLSError.outOfMemory, "memory"), ErrorWords(TLSError.plainHTTP, "HTTP"),
            ErrorWords(TLSError.protocolViolation("bad record"), "bad record"),
            ErrorWords(TLSError.refused(reason: "the program's word"), "the program's word"),
            ErrorWords(TLSError.roots(roots), "/x"), ErrorWords(TLSError.tooManyHelloRequests, "without end"),
            ErrorWords(TLSError.tooManyKeyUpdates, "without end"), ErrorWords(TLSError.truncated, "close_notify"),
            ErrorWords(TLSError.unexpectedApplicationProtocol("h2"), "h2"),
            ErrorWords(TLSError.unsupportedVersion, "version"),
            ErrorWords(TLSError.untrusted(untrusted), "self-signed"),
        ]

    private static let reasons: [TLSTrustFailure.Reason] = [
        .badSignature, .chainTooLong, .distrusted, .dsaKey, .expired(since: date), .incompleteChain(issuer: "CN=b"),
        .malformed, .misplacedNameConstraints, .nameConstraints, .noCertificate, .notAnAuthority,
        .notYetValid(until: date), .other, .outOfMemory, .pathTooLong, .pinMismatch(leaf: "sha256/x"),
        .revocationListExpired, .revocationListMissing, .revocationListNotYetValid, .revocationListUnusable, .revoked,
        .selfSigned, .stapleMissing, .unknownCriticalExtension, .unknownIssuer("CN=b"), .unprofiled, .unreadableDate,
        .unreadableKey, .untrustedRoot("CN=b"), .unusableNameConstraints, .weakKey, .weakSignature,
        .wrongHost(expected: "a.test", found: ["b.test"], more: 0), .wrongPurpose(isClient: false),
    ]

    private static let staples: [StapleFault] = [
        .badSignature, .expired(date), .notAboutThisCertificate, .notYetValid(date), .unknownCertificate, .unreadable,
        .unsuccessful(6), .wrongSigner,
    ]

    private static let webSocket: [ErrorWords] =
        violations.map { ErrorWords(WebSocketError.violation($0), "") } + [
            ErrorWords(HandshakeError.invalidProtocol("a b"), "a b"),
            ErrorWords(HandshakeError.notAskedFor, "WebSocket"),
            ErrorWords(HandshakeError.unacceptableExtension("x-y"), "x-y"),
            ErrorWords(HandshakeError.unofferedProtocol("chat"), "chat"),
            ErrorWords(HandshakeError.wrongAccept, "Accept"),
            ErrorWords(WebSocketError.corrupt("bad block"), "bad block"),
            ErrorWords(WebSocketError.invalidText, "UTF-8"),
            ErrorWords(WebSocketError.messageTooBig(limit: 77), "77"), ErrorWords(WebSocketError.outOfMemory, "memory"),
            ErrorWords(WebSocketError.tooManyFragments(limit: 77), "77"),
            ErrorWords(WebSocketFailure.closeTimedOut, "close"), ErrorWords(WebSocketFailure.lost(nil), "connection"),
            ErrorWords(WebSocketFailure.lost(.cancelled), "cancel"),
            ErrorWords(WebSocketFailure.violation(.invalidText), "UTF-8"),
        ]

    private static let violations: [ProtocolViolation] = [
        .closeCode(99), .fragmentedControl, .hugeLength, .interleavedMessage, .longControl, .longLength, .masking,
        .reservedBits, .shortClose, .strayContinuation, .unknownOpcode(11),
    ]

    private static let engine: [ErrorWords] = [
        ErrorWords(EngineError.tooManyHeldHeads(limit: 9), "heldHeadBytes"),
        ErrorWords(EngineError.bodyFailed, "source"), ErrorWords(EngineError.bodyFileReplaced, "file"),
        ErrorWords(EngineError.bodyLengthMismatch(declared: 10, given: 4), "10"),
        ErrorWords(EngineError.bodySourceFailed(BodySourceError(Errno.brokenPipe)), "EPIPE"),
        ErrorWords(EngineError.bodyUnreadable(.accessDenied), "EACCES"), ErrorWords(EngineError.cancelled, "cancel"),
        ErrorWords(EngineError.closedBeforeResponse(nil), "response"),
        ErrorWords(EngineError.closedWhileOpening(.connectionReset), "ECONNRESET"),
        ErrorWords(EngineError.connect(connect), "127.0.0.1:443"),
        ErrorWords(EngineError.connectionLost(.timedOut), "ETIMEDOUT"),
        ErrorWords(EngineError.malformedResponse(syntax), "octet 17"),
        ErrorWords(EngineError.proxy(.closed(nil)), "proxy"), ErrorWords(EngineError.sendFailed(.brokenPipe), "EPIPE"),
        ErrorWords(EngineError.shutDown, "shut down"), ErrorWords(EngineError.system(.tooManyOpenFiles), "EMFILE"),
        ErrorWords(EngineError.timedOut(.idle), ""), ErrorWords(EngineError.timedOut(.connect), ""),
        ErrorWords(EngineError.timedOut(.handshake), ""), ErrorWords(EngineError.timedOut(.trustDecision), ""),
        ErrorWords(EngineError.timedOut(.poolWait), ""), ErrorWords(EngineError.timedOut(.responseHead), ""),
        ErrorWords(EngineError.timedOut(.total), ""), ErrorWords(EngineError.tls(.closed), "TLS"),
        ErrorWords(EngineError.truncatedBody(expected: 10, received: 4, nil), "4 of 10"),
        ErrorWords(EngineError.truncatedHead(nil), "head"), ErrorWords(EngineError.undecodable(.truncated), ""),
        ErrorWords(EngineError.unexpectedUpgrade, "protocol"), ErrorWords(EngineError.unsolicitedBytes, ""),
        ErrorWords(EngineError.uploadAborted(sent: 7, nil), "7"),
        ErrorWords(EngineError.invalidRequest(.host("a b", .empty)), "a b"),
        ErrorWords(EngineError.invalidRequest(.pipelineOfStreams), ""),
        ErrorWords(EngineError.invalidRequest(.pipelineThatWaits), ""),
        ErrorWords(EngineError.invalidRequest(.pipelineTooLarge(9)), "9"),
        ErrorWords(EngineError.invalidRequest(.reservedField("Host")), "Host"),
        ErrorWords(EngineError.invalidRequest(.syntax(syntax)), "octet 17"),
        ErrorWords(EngineError.invalidRequest(.traceWithContent), "TRACE"),
        ErrorWords(EngineError.invalidRequest(.unknownLengthToHTTP10), ""),
        ErrorWords(EngineError.invalidRequest(.upgrade(["a b"])), ""),
        ErrorWords(EngineError.invalidRequest(.upgradeWithContent), ""),
        ErrorWords(ProxyError.authenticationRequired(refusal), "403"), ErrorWords(ProxyError.closed(nil), "proxy"),
        ErrorWords(ProxyError.closed(.connectionReset), "ECONNRESET"),
        ErrorWords(ProxyError.credentials(.colonInUser), "colon"),
        ErrorWords(ProxyError.malformedResponse(syntax), "17"),
        ErrorWords(ProxyError.refused(refusal), "403"), ErrorWords(ProxyError.socks(.loginRejected), ""),
        ErrorWords(ProxyError.target(syntax), "octet 17"), ErrorWords(ProxyError.tls(.closed), "TLS"),
        ErrorWords(ProxyError.unreachable(connect), "127.0.0.1:443"), ErrorWords(SOCKS5Error.addressType(9), "9"),
        ErrorWords(SOCKS5Error.credentialsLength, ""), ErrorWords(SOCKS5Error.hostLength(300), "300"),
        ErrorWords(SOCKS5Error.loginRejected, ""), ErrorWords(SOCKS5Error.method(9), "9"),
        ErrorWords(SOCKS5Error.noAcceptableMethod, ""), ErrorWords(SOCKS5Error.version(4), "4"),
        ErrorWords(SOCKS5Error.refused(reply: 8), ""), ErrorWords(SOCKS5Error.refused(reply: 2), ""),
        ErrorWords(SOCKS5Error.refused(reply: 7), ""), ErrorWords(SOCKS5Error.refused(reply: 9), "9"),
        ErrorWords(SOCKS5Error.refused(reply: 5), ""), ErrorWords(SOCKS5Error.refused(reply: 1), ""),
        ErrorWords(SOCKS5Error.refused(reply: 4), ""), ErrorWords(SOCKS5Error.refused(reply: 3), ""),
        ErrorWords(SOCKS5Error.refused(reply: 6), ""),
        ErrorWords(ContentDecodingError.corrupt("bad block"), "bad block"),
        ErrorWords(ContentDecodingError.outOfMemory, "memory"), ErrorWords(ContentDecodingError.presetDictionary, ""),
        ErrorWords(ContentDecodingError.tooExpansive(ratio: 99), "99"),
        ErrorWords(ContentDecodingError.tooLarge(limit: 99), "99"),
        ErrorWords(ContentDecodingError.tooManyCodings(9), "9"), ErrorWords(ContentDecodingError.trailingBytes, ""),
        ErrorWords(ContentDecodingError.truncated, ""), ErrorWords(BodySourceError(Errno.brokenPipe), "EPIPE"),
    ]

    /// Of URLs, hosts, files and proxies.
    private static let places: [ErrorWords] = [
        ErrorWords(HTTPURL.Problem.byte(7, at: 3), "3"), ErrorWords(HTTPURL.Problem.empty, ""),
        ErrorWords(HTTPURL.Problem.host(.empty, at: 3), "3"), ErrorWords(HTTPURL.Problem.noScheme, "scheme"),
        ErrorWords(HTTPURL.Problem.percent(at: 3), "3"), ErrorWords(HTTPURL.Problem.portRange(at: 3), "3"),
        ErrorWords(HTTPURL.Problem.portSyntax(at: 3), "3"), ErrorWords(HTTPURL.Problem.scheme("ftp"), "ftp"),
        ErrorWords(HTTPURL.Problem.secondColon(at: 3), "3"), ErrorWords(HTTPURL.Problem.userInformation(at: 3), "3"),
        ErrorWords(URLHost.Problem.empty, "host"), ErrorWords(URLHost.Problem.character("%", at: 3), "3"),
        ErrorWords(URLHost.Problem.length, "63"), ErrorWords(URLHost.Problem.number, "number"),
        ErrorWords(URLHost.Problem.ipv6Literal, "IPv6"), ErrorWords(URLHost.Problem.zone, "zone"),
        ErrorWords(FileBody.Problem.unreadable(.noSuchFile), "ENOENT"),
        ErrorWords(FileBody.Problem.notRegular, "regular"), ErrorWords(FileBody.Problem.outOfRange(size: 9), "9"),
        ErrorWords(Proxy.Problem.empty, "empty"), ErrorWords(Proxy.Problem.scheme("ftp"), "ftp"),
        ErrorWords(Proxy.Problem.path(at: 3), "3"), ErrorWords(Proxy.Problem.percent(at: 3), "3"),
        ErrorWords(Proxy.Problem.credentialsEncoding, "UTF-8"), ErrorWords(Proxy.Problem.secondAt(at: 3), "3"),
        ErrorWords(Proxy.Problem.host(.empty, at: 3), "3"), ErrorWords(Proxy.Problem.port(at: 3), "3"),
        ErrorWords(ProxyEnvironment.Problem(variable: "http_proxy", problem: .empty), "http_proxy"),
    ]
}
