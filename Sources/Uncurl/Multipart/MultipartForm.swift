/// A form of several parts (RFC 7578).
public struct MultipartForm: Sendable {
}
