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
