/// The rules for names, values and start lines that are sent. They are checked when a field is set, and again when it
/// is written, since code between the two may change it (CVE-2026-28970).
enum FieldRules {
    static func checkName(_ name: Span<UInt8>) throws(HTTP1Error) {
        guard name.count > 0 else { throw HTTP1Error(.emptyFieldName, offset: 0, side: .local) }
        let end = name.endOfToken(0, name.count)
        guard end == name.count else {
            throw HTTP1Error(.invalidFieldName(byte: name[end]), offset: UInt64(end), side: .local)
        }
    }

    static func checkValue(_ value: Span<UInt8>) throws(HTTP1Error) {
        let end = value.endOfValue(0, value.count)
        guard end == value.count else {
            throw HTTP1Error(.invalidFieldValue(byte: value[end]), offset: UInt64(end), side: .local)
        }
    }

    static func checkMethod(_ method: Span<UInt8>) throws(HTTP1Error) {
        let end = method.endOfToken(0, method.count)
        guard end == method.count, end > 0 else {
            throw HTTP1Error(.invalidMethod, offset: UInt64(end), side: .local)
        }
    }

    static func checkReason(_ reason: Span<UInt8>) throws(HTTP1Error) {
        let end = reason.endOfValue(0, reason.count)
        guard end == reason.count else {
            throw HTTP1Error(.invalidReason(byte: reason[end]), offset: UInt64(end), side: .local)
        }
    }

    static func checkTarget(_ method: Span<UInt8>, _ target: Span<UInt8>) throws(HTTP1Error) {
        let end = target.endOfTarget(0, target.count)
        guard end == target.count else { throw HTTP1Error(.invalidTarget, offset: UInt64(end), side: .local) }
        guard RequestTarget.isValid(target, 0..<target.count, method, 0..<method.count) else {
            throw HTTP1Error(.invalidTarget, offset: 0, side: .local)
        }
    }
}
