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

/// The four forms of a request target (RFC 9112 §3.2) and the syntax of Host (RFC 9110 §7.2).
extension Span<UInt8> {
    /// CONNECT takes authority-form, OPTIONS may take "*", all others origin-form or absolute-form. The octets
    /// themselves were checked before.
    @inline(__always)
    func isTarget(_ target: Range<Int>, of methodBytes: Span<UInt8>, _ method: Range<Int>) -> Bool {
        guard !target.isEmpty else { return false }
        if byte(target.lowerBound) == ASCII.slash {
            return !methodBytes.isMethod(method, "CONNECT")
        }
        return isRareTarget(target, of: methodBytes, method)
    }

    @inline(never)
    private func isRareTarget(_ target: Range<Int>, of methodBytes: Span<UInt8>, _ method: Range<Int>) -> Bool {
        if methodBytes.isMethod(method, "CONNECT") {
            return isAuthority(target, needsPort: true)
        }
        if target.count == 1, byte(target.lowerBound) == ASCII.asterisk {
            return methodBytes.isMethod(method, "OPTIONS")
        }
        return isAbsolute(target)
    }

    /// scheme "://" authority, with whatever behind it; the octets were checked already.
    private func isAbsolute(_ target: Range<Int>) -> Bool {
        var position = target.lowerBound
        guard ASCII.isLetter(byte(position)) else { return false }
        while position < target.upperBound, isSchemeOctet(byte(position)) {
            position += 1
        }
        guard position + 3 < target.upperBound, byte(position) == ASCII.colon,
            byte(position + 1) == ASCII.slash, byte(position + 2) == ASCII.slash
        else { return false }
        return byte(position + 3) != ASCII.slash
    }

    private func isSchemeOctet(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == ASCII.dot
    }

    /// uri-host [ ":" port ], without userinfo. A server that took more could be made to see another host than the
    /// proxy before it did.
    func isAuthority(_ range: Range<Int>, needsPort: Bool) -> Bool {
        guard let hostEnd = endOfHost(range) else { return false }
        guard hostEnd < range.upperBound else { return !needsPort && hostEnd > range.lowerBound }
        guard byte(hostEnd) == ASCII.colon, hostEnd > range.lowerBound else { return false }
        let digits = (hostEnd + 1)..<range.upperBound
        if digits.isEmpty { return !needsPort }
        var port: UInt32 = 0
        for position in digits {
            let octet = byte(position)
            guard ASCII.isDigit(octet) else { return false }
            port = port * 10 + UInt32(octet - ASCII.zero)
            guard port <= 65535 else { return false }
        }
        return true
    }

    /// IP-literal, or a reg-name (RFC 3986 §3.2.2).
    private func endOfHost(_ range: Range<Int>) -> Int? {
        var position = range.lowerBound
        guard position < range.upperBound else { return position }
        if byte(position) == 0x5B {
            position += 1
            while position < range.upperBound, isLiteralOctet(byte(position)) {
                position += 1
            }
            guard position < range.upperBound, byte(position) == 0x5D, position > range.lowerBound + 1 else {
                return nil
            }
            return position + 1
        }
        return endOfHostName(position, range.upperBound)
    }

    /// HEXDIG, ":", "." and what IPvFuture adds.
    private func isLiteralOctet(_ byte: UInt8) -> Bool {
        ASCII.isHostName(byte) || byte == ASCII.colon
    }

    func isMethod(_ method: Range<Int>, _ name: StaticString) -> Bool {
        guard method.count == name.utf8CodeUnitCount else { return false }
        for index in 0..<method.count {
            guard byte(method.lowerBound + index) == (unsafe name.utf8Start[index]) else { return false }
        }
        return true
    }
}
