internal import Foundation

/// The `localizedDescription` of a `URLError` by its code, in CFNetwork's words, which programs show and tests compare.
/// The particular cause is in the underlying error.
enum CFNetworkWords {
    static func of(_ code: URLError.Code, host: String?) -> String {
        let server = host.map { "“\($0)”" } ?? "the server"
        let pretender =
            "You might be connecting to a server that is pretending to be \(server) which could put your confidential "
            + "information at risk."
        return switch code {
        case .cancelled: "cancelled"
        case .badURL: "bad URL"
        case .timedOut: "The request timed out."
        case .unsupportedURL: "unsupported URL"
        case .cannotFindHost: "A server with the specified hostname could not be found."
        case .cannotConnectToHost: "Could not connect to the server."
        case .networkConnectionLost: "The network connection was lost."
        case .dnsLookupFailed: "DNS lookup error"
        case .httpTooManyRedirects: "too many HTTP redirects"
        case .resourceUnavailable: "resource unavailable"
        case .notConnectedToInternet: "The Internet connection appears to be offline."
        case .redirectToNonExistentLocation: "redirected to nowhere"
        case .badServerResponse: "There was a bad response from the server."
        case .userCancelledAuthentication: "The authentication was cancelled."
        case .userAuthenticationRequired: "Authentication is required."
        case .zeroByteResource: "zero byte resource"
        case .cannotDecodeRawData: "cannot decode raw data"
        case .cannotDecodeContentData: "cannot decode content data"
        case .cannotParseResponse: "cannot parse response"
        case .dataNotAllowed: "A data connection is not currently allowed."
        case .requestBodyStreamExhausted: "request body stream exhausted"
        case .appTransportSecurityRequiresSecureConnection:
            "The resource could not be loaded because the App Transport Security policy requires the use of a secure connection."
        case .fileDoesNotExist: "The requested URL was not found on this server."
        case .fileIsDirectory: "file is directory"
        case .noPermissionsToReadFile: "You do not have permission to access the requested resource."
        case .dataLengthExceedsMaximum: "resource exceeds maximum size"
        case .secureConnectionFailed: "An SSL error has occurred and a secure connection to the server cannot be made."
        case .serverCertificateHasBadDate: "The certificate for this server has expired. " + pretender
        case .serverCertificateUntrusted: "The certificate for this server is invalid. " + pretender
        case .serverCertificateHasUnknownRoot:
            "The certificate for this server was signed by an unknown certifying authority. " + pretender
        case .serverCertificateNotYetValid: "The certificate for this server is not yet valid. " + pretender
        case .clientCertificateRejected: "The server \(server) did not accept the certificate."
        case .clientCertificateRequired: "The server \(server) requires a client certificate."
        case .cannotLoadFromNetwork: "can’t load from network"
        case .cannotCreateFile: "Cannot create file"
        case .cannotOpenFile: "Cannot open file"
        case .cannotCloseFile: "Failure occurred while closing file"
        case .cannotWriteToFile: "Cannot write file"
        case .cannotRemoveFile: "Cannot remove file"
        case .cannotMoveFile: "Cannot move file"
        case .backgroundSessionWasDisconnected: "Lost connection to background transfer service"
        default: "unknown error"
        }
    }
}
