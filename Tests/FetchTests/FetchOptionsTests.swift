import TestSupport
import Testing
import UncurlEngine
import UncurlSemantics

@testable import fetch

@Suite("Command line of fetch", .ownThread)
struct FetchOptionsTests {
    @Test("flags may stand anywhere, and end at two hyphens")
    func flags() throws {
        let url = try HTTPURL("http://h/")
        #expect(try FetchOptions.parse(["http://h/"]) == FetchOptions(urls: [url]))
        let all = FetchOptions(urls: [url, url], writesBodies: true, writesHeads: true, isQuiet: true)
        #expect(try FetchOptions.parse(["-b", "http://h", "-i", "-q", "--", "http://h/"]) == all)
        #expect(try FetchOptions.parse(["http://h/", "--help"]).information == FetchOptions.usage)
        #expect(try FetchOptions.parse(["-T", "-b", "http://h/"]) == FetchOptions(urls: [url], upload: "-b"))
    }

    @Test(
        "what cannot be used is refused in one line, before anything is sent",
        arguments: [
            ([], "there is no URL: give one such as http://127.0.0.1:8080/get"),
            (["-q"], "there is no URL: give one such as http://127.0.0.1:8080/get"),
            (["-z", "http://h/"], "\"-z\" is no flag: use -b, -i, -q, -T, -k, --cacert, -x, --version or --help"),
            (
                ["-x", "gopher://h", "http://h/"],
                "what -x names is no proxy: “gopher” is no kind of proxy we speak: http, https, socks5 or socks5h"
            ),
            (["http://h/", "--cacert"], "--cacert wants a file to believe"),
            (
                ["-k", "--cacert", "f", "http://h/"],
                "-k and --cacert exclude each other: trust any certificate, or those authorities"
            ),
            (["http://h/", "-T"], "-T wants a file to send"),
            (["h/a\nb"], "\"h/a\\nb\" is no URL to fetch: the URL does not begin with a scheme and ://"),
            (
                ["http://h/", "ftp://h/"],
                "\"ftp://h/\" is no URL to fetch: the scheme is “ftp”, neither http nor https"
            ),
            (["--", "-b"], "\"-b\" is no URL to fetch: the URL does not begin with a scheme and ://"),
            (
                ["http://127.1/"],
                "\"http://127.1/\" is no URL to fetch: the host ends in a number and is no IPv4 address of four parts (octet 7)"
            ),
        ] as [([String], String)]
    )
    func refused(arguments: [String], message: String) {
        #expect(throws: FetchOptions.Mistake(description: message)) { try FetchOptions.parse(arguments) }
    }
}
