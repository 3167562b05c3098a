/// Transfer-Encoding (RFC 9112 §6.1, §7): a list of codings, of which we speak one.
enum TransferCoding {
    /// Returns if the list is `chunked` and nothing else. Codings before it would be framed well but cannot be undone
    /// here; parameters on chunked are for no-one (§7.1), and "identity" is gone since RFC 7230.
    @inline(__always)
    static func checkChunkedAlone(_ fields: inout HTTPFields) throws(HTTP1Error) {
        if let only = fields.table.first(.transferEncoding), isValue(fields.block.span, only.value, "chunked"),
            fields.table.isOnly(.transferEncoding)
        {
            return
        }
        try checkList(fields)
    }

    @inline(never)
    private static func checkList(_ fields: HTTPFields) throws(HTTP1Error) {
        let bytes = fields.block.span
        var chunked = 0
        var others = 0
        var isLastChunked = false
        for index in 0..<fields.count where fields.table[index].isKnown(.transferEncoding) {
            let value = fields.table[index].value
            var position = value.lowerBound
            while let member = FieldList.next(bytes, &position, value.upperBound) {
                guard isCoding(bytes, member) else { throw HTTP1Error(.invalidTransferEncoding, offset: 0) }
                isLastChunked = equalIgnoringCase(bytes, member, "chunked")
                if isLastChunked { chunked += 1 } else { others += 1 }
            }
        }
        guard chunked + others > 0 else { throw HTTP1Error(.invalidTransferEncoding, offset: 0) }
        guard chunked <= 1 else { throw HTTP1Error(.chunkedRepeated, offset: 0) }
        guard isLastChunked else { throw HTTP1Error(.chunkedNotFinal, offset: 0) }
        guard others == 0 else { throw HTTP1Error(.unsupportedTransferCoding, offset: 0) }
    }

    /// A token, which for other codings than chunked parameters may follow.
    private static func isCoding(_ bytes: Span<UInt8>, _ member: Range<Int>) -> Bool {
        let nameEnd = bytes.endOfToken(member.lowerBound, member.upperBound)
        guard nameEnd > member.lowerBound else { return false }
        guard nameEnd < member.upperBound else { return true }
        let next = bytes.endOfBlanks(nameEnd, member.upperBound)
        return bytes.byte(next) == ASCII.semicolon
            && !equalIgnoringCase(bytes, member.lowerBound..<nameEnd, "chunked")
    }
}
