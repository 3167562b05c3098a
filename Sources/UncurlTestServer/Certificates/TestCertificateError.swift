/// The error for an object that OpenSSL refused to make.
public struct TestCertificateError: Error, CustomStringConvertible {
    /// The object, such as `key`.
    public let what: String

    /// One line that names the object.
    public var description: String { "OpenSSL cannot make the \(what)" }
}

/// The value, or the error that names the object.
func checked<Value>(_ value: Value?, _ what: String) throws(TestCertificateError) -> Value {
    guard let value = value else { throw TestCertificateError(what: what) }
    return value
}

func check(_ result: CInt, _ what: String) throws(TestCertificateError) {
    if result <= 0 { throw TestCertificateError(what: what) }
}
