internal import Foundation

/// Facts about the process, read once.
enum ProcessFacts {
    static let processors = ProcessInfo.processInfo.activeProcessorCount

    /// The value of the User-Agent field, with the program's name (RFC 9110 §10.1.5: a token).
    static let userAgent: String = {
        let name = ProcessInfo.processInfo.processName.filter { letter in
            letter.isASCII && (letter.isLetter || letter.isNumber || "-._~+!".contains(letter))
        }
        return (name.isEmpty ? "URLLoading" : name) + " (unknown version) uncurl/1.0"
    }()
}
