import Testing
import UncurlEngine
import UncurlHTTP1
import UncurlReactor
import UncurlSemantics

@testable import UncurlLoad

/// One of each case of the room's errors, with a part of what it must say.
@Suite("Words of errors")
struct ErrorWordsTests {
    private static let settings: [(LoadTestError, String)] = [
        (.url("", .empty), "the URL is empty: use one such as"),
        (.notReadyForTLS(url: "https://a.test/"), "\"https://a.test/\" is https and the test's own URL is not"),
        (.method("G T"), "method \"G T\" is not a method: use a token"),
        (.connectMethod, "CONNECT opens a tunnel"),
        (.header("a", .noColon), "headers \"a\" has no colon: write 'Name: value'"),
        (.header("a b: c", .name), "no usable name"),
        (.header("a: \u{1}", .controlCharacter), "control character in its value"),
        (.header("te: x", .framing), "the framing follows from body"),
        (.header("host: x", .secondHost), "sets Host twice"),
        (.unsendable(.shutDown), "the request cannot be sent"),
        (.at("urls.txt, line 3", .connectMethod), "urls.txt, line 3: method CONNECT"),
        (.connectionsAndThreads(connections: 1, threads: 2), "1 connections on 2 threads"),
        (.endless, "neither duration nor requests is set"),
        (.conflictingPace, "rate, stages and think exclude each other"),
        (.time(.timeout), "timeout is to be more than 0 and at most 744 hours"),
        (.rate(-1), "-1.0 is no rate"), (.nothingDue, "use a higher rate or a longer duration"),
        (.descriptors(connections: 9, needed: 40, allowed: 20, most: 4), "this process may open 20"),
        (.descriptorLimit(needed: 40), "run `ulimit -Sn 40` first"),
        (
            .ports(connections: 9, available: 4, sources: 1, sourcesNeeded: 3),
            "there are 4 for 1 source address: give 3"
        ),
        (.sourceAddress("10.0.0.1", reason: "no such address"), "10.0.0.1 cannot be connected from"),
        (.threads(4, reason: "no memory"), "4 threads cannot be started: no memory"),
        (.embeddedServer(reason: "no memory"), "name a URL to test instead"),
        (.unknownHost("a.test", reason: "not found"), "\"a.test\" cannot be looked up: not found"),
        (.interrupted(host: "a.test"), "interrupted while looking up \"a.test\""),
        (.authorities(reason: "no such file", given: nil), "name authorities with authorities, or use isInsecure"),
        (.authorities(reason: "no such file", given: "ca.pem"), "ca.pem: no such file: name a readable file"),
        (.tls(reason: "no memory"), "TLS cannot be set up: no memory"),
    ]

    private static let files: [(any Error & CustomStringConvertible, String)] = [
        (UsageError.unreadable("a", .noSuchFile), "\"a\" cannot be read"),
        (UsageError.tooLarge("a", limit: 3 << 20), "\"a\" is larger than 3 MiB"),
        (UsageError.mark("{{"), "{{ may not stand in a text"),
        (UsageError.unknown("x"), "{{x}} is unknown: use"),
        (UsageError.tooLarge("a", limit: 1 << 20), "use a smaller file"),
        (UsageError.empty("a"), "\"a\" has no line in it"),
        (UsageError.notBase64, "not Base64"), (UsageError.notZlib, "zlib stream is broken"),
        (UsageError.truncated, "ends too early"), (UsageError.unknownEncoding(0xAB), "0xab"),
        (UsageError.impossibleLayout, "range or precision"), (UsageError.normalized, "normalizing offset"),
        (UsageError.countsOutOfRange, "out of range"), (UsageError.tooLarge(limit: 2 << 20), "2 MiB"),
    ]

    @Test("each error says in one line what is wrong and what would be right", arguments: settings.indices)
    func ofSettings(index: Int) {
        let (error, fragment) = Self.settings[index]
        check("\(error)", has: fragment)
    }

    @Test("each error about files, templates, histograms and rates says what is wrong", arguments: files.indices)
    func ofFiles(index: Int) {
        let (error, fragment) = Self.files[index]
        check("\(error)", has: fragment)
    }

    private func check(_ said: String, has fragment: String) {
        #expect(said.contains(fragment), "\(said)")
        #expect(!said.hasSuffix(".") && !said.contains("\n") && !said.contains("nobody"), "\(said)")
        // The library knows no flags.
        #expect(!said.contains(" -t") && !said.contains("volley --"), "\(said)")
    }

    @Test(
        "a rate that cannot be read says what would be right",
        arguments: [
            ("x", "the rate \"x\" is no rate: use requests a second such as 1000"),
            ("0", "the rate \"0\" must be more than 0"), ("9G", "the rate \"9G\" is too high: at most 1G/s"),
        ]
    )
    func rates(text: String, words: String) {
        let error = #expect(throws: UsageError.self) { try Rate(text, for: "the rate") }
        #expect(error?.description.contains(words) == true)
    }
}
