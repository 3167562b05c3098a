internal import Foundation
internal import UncurlText

extension URLSession {
    /// How long a hook may take to answer a question about the task of this request; nil for no limit.
    package func answerLimit(of request: URLRequest?) -> Duration? {
        Duration.limit(request?.values.explicitTimeout ?? ownConfiguration.timeoutIntervalForRequest)
    }
}

/// The value of Accept-Language (RFC 9110 §12.5.4): the user's languages, the preferred one first, for sessions and
/// managers. Foundation's `Locale.preferredLanguages` is `en-001` in the C locale, which no server knows.
extension URLRequest {
    package static let acceptLanguage = acceptLanguage(for: languages(in: ProcessInfo.processInfo.environment))

    /// At most six languages, each with a weight a tenth lower than the one before. Weights below one half serve no
    /// purpose.
    package static func acceptLanguage(for languages: [String]) -> String {
        languages.prefix(6).enumerated().map { index, language in
            index == 0 ? "\(language);q=1" : "\(language);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// The languages in gettext's order. LANGUAGE is a list and comes first, except in the C locale; then LC_ALL,
    /// LC_MESSAGES, LANG. POSIX defines the C locale's messages as English.
    package static func languages(in environment: [String: String]) -> [String] {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        guard let locale = names.first.flatMap(tag) else { return ["en"] }
        let list = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        var seen: Set<String> = []
        return (list + [locale]).filter { seen.insert($0.lowercased()).inserted }
    }

    /// The language tag (RFC 5646) of a locale: `de-DE` for `de_DE.UTF-8@euro`. Nil for C, POSIX and malformed names.
    private static func tag(_ locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        guard name != "C", name != "POSIX" else { return nil }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        let areSubtags = parts.allSatisfy { part in
            (1...8).contains(part.utf8.count) && part.utf8.allSatisfy(\.isASCIIAlphanumeric)
        }
        return areSubtags ? parts.joined(separator: "-") : nil
    }
}
