/// The rules for names, values and start lines that are sent. They are checked when a field is set, and again when it
/// is written, since code between the two may change it (CVE-2026-28970).
extension Span<UInt8> {
    func checkName() throws(HTTP1Error) {
        guard count > 0 else { throw HTTP1Error(.emptyFieldName, offset: 0, side: .local) }
        let end = endOfToken(0, count)
        guard end == count else {
            throw HTTP1Error(.invalidFieldName(byte: self[end]), offset: UInt64(end), side: .local)
        }
    }

    func checkValue() throws(HTTP1Error) {
        let end = endOfValue(0, count)
        guard end == count else {
            throw HTTP1Error(.invalidFieldValue(byte: self[end]), offset: UInt64(end), side: .local)
        }
    }

    func checkMethod() throws(HTTP1Error) {
        let end = endOfToken(0, count)
        guard end == count, end > 0 else {
            throw HTTP1Error(.invalidMethod, offset: UInt64(end), side: .local)
        }
    }

    func checkReason() throws(HTTP1Error) {
        let end = endOfValue(0, count)
        guard end == count else {
            throw HTTP1Error(.invalidReason(byte: self[end]), offset: UInt64(end), side: .local)
        }
    }

    func checkTarget(of method: Span<UInt8>) throws(HTTP1Error) {
        let end = endOfTarget(0, count)
        guard end == count else { throw HTTP1Error(.invalidTarget, offset: UInt64(end), side: .local) }
        guard RequestTarget.isValid(self, 0..<count, method, 0..<method.count) else {
            throw HTTP1Error(.invalidTarget, offset: 0, side: .local)
        }
    }
}
