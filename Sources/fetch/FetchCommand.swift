import UncurlEngine
import UncurlHTTP1
import UncurlLibC
import UncurlReactor
import UncurlSemantics

/// The smallest useful program on the engine, without Foundation and without a package: a loop on the main thread, an
/// engine on it, and a delegate.
@main
struct FetchCommand {
    static func main() {
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    private static func run(_ arguments: [String]) -> FetchVerdict {
        do {
            let options = try FetchOptions.parse(arguments)
            if let information = options.information {
                try BlockingOutput.writeAll(information, to: BlockingOutput.standard)
                return .good
            }
            let loop = try EventLoop()
            let fetcher = try Fetcher(options, on: loop)
            fetcher.start()
            loop.run()
            return fetcher.verdict
        } catch {
            try? BlockingOutput.writeAll("fetch: \(error)\n", to: BlockingOutput.errors)
            return .unusable
        }
    }
}

/// A command line of fetch, understood.
struct FetchOptions: Equatable {
    var urls: [HTTPURL] = []
    /// `-b`
    var writesBodies = false
    /// `-i`
    var writesHeads = false
    /// `-q`
    var isQuiet = false
    /// `-T`
    var upload: String?
    /// `-k`
    var isInsecure = false
    /// `--cacert`
    var authorities: String?
    /// `-x`
    var proxy: Proxy?

    /// The usage or the version, which is written in place of a run.
    var information: String?

    /// What is wrong with a command line: one line, before anything is sent.
    struct Mistake: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        usage: fetch [-b] [-i] [-q] [-T FILE] [-k | --cacert FILE] [-x PROXY] URL...

        Gets http and https URLs one after the other on one event loop, and says of each in one line how it
        went: status, bytes of content, bytes before content decoding, content coding, whether the connection
        was a new one, the version of TLS (with a + where a session was resumed), and how long look-up,
        connect, TLS handshake, the wait for the first byte (from the request's first) and the whole took.
        Redirects are told, not followed.

          -b  write the bodies to standard output, and the lines to standard error
          -i  write the response heads to standard output, and the lines to standard error
          -q  no lines; errors only
          -T  PUT this file instead
          -k, --insecure  believe any certificate
          --cacert FILE   believe the authorities in this file of PEM, not the system's
          -x, --proxy URL  by this proxy: http, https, socks5 or socks5h
          --version       write the version

        Exit status: 0 all well; 1 the command line is not usable, and nothing was sent; 4 a transfer failed;
        5 all were answered, but some with a status of 400 or more.

        """

    static func parse(_ arguments: [String]) throws(Mistake) -> FetchOptions {
        var options = FetchOptions()
        var flagsEnded = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if flagsEnded || !argument.hasPrefix("-") {
                options.urls.append(try url(argument))
                continue
            }
            switch argument {
            case "--": flagsEnded = true
            case "-b": options.writesBodies = true
            case "-i": options.writesHeads = true
            case "-q": options.isQuiet = true
            case "-T":
                guard let path = rest.popFirst() else { throw Mistake(description: "-T wants a file to send") }
                options.upload = path
            case "-k", "--insecure": options.isInsecure = true
            case "--cacert":
                guard let path = rest.popFirst() else { throw Mistake(description: "--cacert wants a file to believe") }
                options.authorities = path
            case "-x", "--proxy":
                guard let text = rest.popFirst() else { throw Mistake(description: "-x wants the URL of a proxy") }
                options.proxy = try proxy(text)
            case "-h", "--help": return FetchOptions(information: usage)
            case "--version": return FetchOptions(information: "fetch \(PackageVersion.text)\n")
            default:
                throw Mistake(
                    description:
                        "\(argument.debugDescription) is no flag: use -b, -i, -q, -T, -k, --cacert, -x, --version or --help"
                )
            }
        }
        guard !options.isInsecure || options.authorities == nil else {
            let words = "-k and --cacert exclude each other: trust any certificate, or those authorities"
            throw Mistake(description: words)
        }
        guard !options.urls.isEmpty else {
            throw Mistake(description: "there is no URL: give one such as http://127.0.0.1:8080/get")
        }
        return options
    }

    private static func proxy(_ text: String) throws(Mistake) -> Proxy {
        do throws(Proxy.Problem) {
            return try Proxy(url: text)
        } catch {
            // A password may be in it, so the text is not repeated.
            throw Mistake(description: "what -x names is no proxy: \(error)")
        }
    }

    private static func url(_ text: String) throws(Mistake) -> HTTPURL {
        do throws(HTTPURL.Problem) {
            return try HTTPURL(text)
        } catch {
            throw Mistake(description: "\(text.debugDescription) is no URL to fetch: \(error)")
        }
    }
}

/// The exit status, with volley's numbers. The worst of the transfers wins.
enum FetchVerdict: Int32, Comparable {
    case good = 0
    /// The command line; nothing was sent.
    case unusable = 1
    /// A transfer failed, or its output did.
    case failed = 4
    /// A status of 400 or more.
    case refused = 5

    /// By how bad it is.
    static func < (left: FetchVerdict, right: FetchVerdict) -> Bool { left.badness < right.badness }

    private var badness: Int {
        switch self {
        case .good: 0
        case .refused: 1
        case .failed: 2
        case .unusable: 3
        }
    }
}
