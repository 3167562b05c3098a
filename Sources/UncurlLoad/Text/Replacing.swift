extension StringProtocol {
    /// Returns the text with `text` in the place of each `mark`, which is not empty. The standard library's `replacing`
    /// would link its regular expressions, 1.4 MB of a static program without Foundation.
    package func replacingEach(_ mark: String, by text: String) -> String {
        let (bytes, mark) = (Array(utf8), Array(mark.utf8))
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == mark.first, bytes[index...].starts(with: mark) {
                result += text.utf8
                index += mark.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
