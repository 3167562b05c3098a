/// The rules for names, values and start lines that are sent. They are checked when a field is set, and again when it
/// is written, since code between the two may change it (CVE-2026-28970).
extension Span<UInt8> {
    func checkName() throws(HTTP1Error) {
        guard count > 0 else { throw HTTP1Error(.emptyFieldName, offset: 0, side: .local) }
        try refuse(from: endOfToken(0, count)) { .invalidFieldName(byte: $0) }
    }

    func checkValue() throws(HTTP1Error) {
        try refuse(from: endOfValue(0, count)) { .invalidFieldValue(byte: $0) }
    }

    func checkMethod() throws(HTTP1Error) {
        let end = endOfToken(0, count)
        guard end == count, end > 0 else {
            throw HTTP1Error(.invalidMethod, offset: UInt64(end), side: .local)
        }
    }

    func checkReason() throws(HTTP1Error) {
        try refuse(from: endOfValue(0, count)) { .invalidReason(byte: $0) }
    }

    func checkTarget(of method: Span<UInt8>) throws(HTTP1Error) {
        let end = endOfTarget(0, count)
        guard end == count else { throw HTTP1Error(.invalidTarget, offset: UInt64(end), side: .local) }
        guard isTarget(0..<count, of: method, 0..<method.count) else {
            throw HTTP1Error(.invalidTarget, offset: 0, side: .local)
        }
    }

    @inline(__always)
    private func refuse(from end: Int, _ fault: (UInt8) -> HTTP1Error.Kind) throws(HTTP1Error) {
        if end < count { throw HTTP1Error(fault(self[end]), offset: UInt64(end), side: .local) }
    }
}
