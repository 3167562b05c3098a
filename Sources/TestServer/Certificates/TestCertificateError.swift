/// OpenSSL refused to make what a test asked for.
public struct TestCertificateError: Error, CustomStringConvertible {
    /// What OpenSSL refused to make, such as `key`.
    public let what: String

    /// One line: what could not be made.
    public var description: String { "OpenSSL cannot make the \(what)" }
}

/// The value, or the error that names what was to be made.
func checked<Value>(_ value: Value?, _ what: String) throws(TestCertificateError) -> Value {
    guard let value = value else { throw TestCertificateError(what: what) }
    return value
}

func check(_ result: CInt, _ what: String) throws(TestCertificateError) {
    if result <= 0 { throw TestCertificateError(what: what) }
}
