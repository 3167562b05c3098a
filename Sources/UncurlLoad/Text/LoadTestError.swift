public import UncurlEngine
public import UncurlSemantics

/// Why a load test cannot be run. Nothing was started.
///
/// ``description`` is one line with the fault and the remedy, and names the properties of ``LoadTest``.
public enum LoadTestError: Error, Hashable, Sendable {
    /// What is wrong with a header field.
    public enum HeaderProblem: Hashable, Sendable {
        /// There is no colon after a name.
        case noColon
        /// The name is empty, or no token (RFC 9110 §5.1).
        case name
        /// The value has a control character (RFC 9110 §5.5).
        case controlCharacter
        /// The field is one that the load tester sets itself, since it frames the message.
        case framing
        /// There are two Host fields.
        case secondHost
    }

    /// The text is no URL that can be tested.
    case url(String, HTTPURL.Problem)
    /// An https URL occurs in a test that was not prepared for TLS.
    case notReadyForTLS(url: String)
    /// The method is no token (RFC 9110 §9.1).
    case method(String)
    /// The method is CONNECT, which opens a tunnel.
    case connectMethod
    /// A header field, as it was given, and what is wrong with it.
    case header(String, HeaderProblem)
    /// The request cannot be written, for the engine's reason.
    case unsendable(EngineError)
    /// The error concerns one request of several. The text names its place.
    indirect case at(String, LoadTestError)

    /// Each thread needs at least one connection, and both have limits.
    case connectionsAndThreads(connections: Int, threads: Int)
    /// Neither a duration nor a number of requests is set.
    case endless
    /// A rate, stages and a pause exclude each other.
    case conflictingPace
    /// The setting's time is not more than 0, or is over 744 hours.
    case time(LoadSetting)
    /// The number of requests a second is not more than 0, or is over 1e9.
    case rate(Double)
    /// No request comes due at the rate within the time.
    case nothingDue

    /// The connections need more descriptors than this process may open. `most` connections would fit.
    case descriptors(connections: Int, needed: UInt64, allowed: UInt64, most: UInt64)
    /// The soft limit of descriptors cannot be raised as far as needed.
    case descriptorLimit(needed: UInt64)
    /// The connections need more local ports than there are. `sourcesNeeded` source addresses would be enough.
    case ports(connections: Int, available: UInt64, sources: UInt64, sourcesNeeded: UInt64)
    /// Connections cannot go out from this address, for the system's reason.
    case sourceAddress(String, reason: String)
    /// This number of threads cannot be started, for the system's reason.
    case threads(Int, reason: String)
    /// The server within this process cannot be started, for the system's reason.
    case embeddedServer(reason: String)
    /// The host has no address, for the resolver's reason.
    case unknownHost(String, reason: String)
    /// A signal came while the host was looked up.
    case interrupted(host: String)
    /// The certificates of authorities cannot be read.
    ///
    /// - Parameter given: The setting that names them. Nil for the system's.
    case authorities(reason: String, given: String?)
    /// TLS cannot be set up, for the reason given.
    case tls(reason: String)
}

extension LoadTestError: CustomStringConvertible {
    /// One line with the fault and the remedy, which names the properties of ``LoadTest``.
    public var description: String { text([:]) }

    /// One line with the fault and the remedy.
    package func text(_ names: SettingNames) -> String {
        switch self {
        case .url(let text, let problem): problem.words(on: text, names)
        case .notReadyForTLS(let url):
            "\(quoted(url)) is https and the test's own URL is not: give the test an https URL too"
        case .method(let method):
            "\(names.of(.method)) \(quoted(method)) is not a method: use a token such as GET or POST"
        case .connectMethod:
            "\(names.of(.method)) CONNECT opens a tunnel and has no response to measure: use another method"
        case .header(let text, let problem): Self.words(text, problem, names)
        case .unsendable(let error):
            "the request cannot be sent: \(error): change the URL, \(names.of(.headers)) or \(names.of(.method))"
        case .at(let place, let error): "\(place): \(error.text(names))"
        case .connectionsAndThreads(let connections, let threads):
            "\(connections) connections on \(threads) threads: each thread needs at least one, and there are limits"
        case .endless: "neither \(names.of(.duration)) nor \(names.of(.requests)) is set: the run would never end"
        case .conflictingPace:
            "\(names.of(.rate)), \(names.of(.stages)) and \(names.of(.think)) exclude each other: set one"
        case .time(let setting): "\(names.of(setting)) is to be more than 0 and at most 744 hours"
        case .rate(let number): "\(number) is no rate: use more than 0 and at most 1e9 requests a second"
        case .nothingDue:
            "no request comes due at that rate: use a higher \(names.of(.rate)) or a longer \(names.of(.duration))"
        case .descriptors(let connections, let needed, let allowed, let most):
            "\(names.of(.connections)) \(connections) needs \(needed) descriptors and this process may open \(allowed): "
                + "run `ulimit -Hn \(needed) && ulimit -Sn \(needed)` as root first, or use \(names.of(.connections)) \(most)"
        case .descriptorLimit(let needed):
            "the limit of descriptors cannot be raised: run `ulimit -Sn \(needed)` first"
        case .ports(let connections, let available, let sources, let sourcesNeeded):
            "\(names.of(.connections)) \(connections) needs as many local ports and there are \(available) for \(sources) source "
                + "address\(sources == 1 ? "" : "es"): give \(sourcesNeeded) with \(names.of(.sourceAddresses)), or run "
                + "`sysctl -w net.ipv4.ip_local_port_range='1024 65535'`"
        case .sourceAddress(let address, let reason):
            "\(names.of(.sourceAddresses)) \(address) cannot be connected from: \(reason): use one of this machine's (`ip address`)"
        case .threads(let count, let reason):
            "\(names.of(.threads)) \(count) threads cannot be started: \(reason): use a smaller \(names.of(.threads))"
        case .embeddedServer(let reason):
            "the embedded server cannot be started: \(reason): name a URL to test instead"
        case .unknownHost(let name, let reason):
            "the host \(quoted(name)) cannot be looked up: \(reason): correct the name, or use \(names.of(.connectTo))"
        case .interrupted(let host): "interrupted while looking up \(quoted(host)): nothing was started"
        case .authorities(let reason, let given?):
            "\(given): \(reason): name a readable file or directory of certificates in PEM"
        case .authorities(let reason, nil):
            "\(reason): name authorities with \(names.of(.authorities)), or use \(names.of(.isInsecure))"
        case .tls(let reason): "TLS cannot be set up: \(reason)"
        }
    }

    private static func words(_ text: String, _ problem: HeaderProblem, _ names: SettingNames) -> String {
        switch problem {
        case .noColon: "\(names.of(.headers)) \(quoted(text)) has no colon: write 'Name: value'"
        case .name:
            "\(names.of(.headers)) \(quoted(text)) has no usable name: letters, digits and !#$%&'*+-.^_`|~, then the colon"
        case .controlCharacter:
            "\(names.of(.headers)) \(quoted(text)) has a control character in its value: leave it out"
        case .framing:
            "\(names.of(.headers)) \(quoted(text)) is volley's own: the framing follows from \(names.of(.body))"
        case .secondHost: "\(names.of(.headers)) sets Host twice: a request has exactly one"
        }
    }
}

/// A setting of a load test, by the name of its property.
public enum LoadSetting: String, Hashable, Sendable {
    /// Properties of ``LoadTest``.
    case url, method, headers, body, connections, threads, duration, requests, rate, stages, think, warmup, timeout,
        drain, authorities, isInsecure
    /// Settings that only volley has.
    case connectRate, sourceAddresses, connectionClose, connectTo, pipeline, template
}

/// The names of settings in messages: the flags of those that a command line has. In a Swift program, which has none,
/// the names are those of the properties.
package typealias SettingNames = [LoadSetting: String]

extension SettingNames {
    package func of(_ setting: LoadSetting) -> String { self[setting] ?? setting.rawValue }

    /// Returns ` (-t)`, to follow a word that already names the setting. Empty where there are no flags.
    package func flag(_ setting: LoadSetting) -> String { self[setting].map { " (\($0))" } ?? "" }
}

extension HTTPURL.Problem {
    /// Returns what is wrong with the URL, and what would be right.
    func words(on text: String, _ names: SettingNames) -> String {
        let url = "the URL \(quoted(text))"
        switch self {
        case .empty: return "the URL is empty: use one such as http://127.0.0.1:8080/"
        case .noScheme: return "\(url) has no scheme: write http://HOST:PORT/ in front"
        case .scheme(let scheme): return "\(url) has the scheme \(quoted(scheme)): use http:// or https://"
        case .userInformation:
            return
                "\(url) holds user information: leave it out and send \(names.of(.headers)) 'Authorization: …' instead"
        case .host(let problem, _): return problem.words(on: url)
        case .secondColon: return "\(url) has too many colons: an IPv6 address needs brackets, [::1]"
        case .portSyntax: return "\(url) has a port that is no number: use 1 to 65535"
        case .portRange: return "\(url) has a port out of range: use 1 to 65535"
        case .percent: return "\(url) has a % without two hex digits: write %25 for the sign itself"
        case .byte(let byte, let offset):
            let hex = String(byte, radix: 16, uppercase: true)
            let escape = hex.count == 1 ? "%0\(hex)" : "%\(hex)"
            return "\(url) has a byte at position \(offset + 1) that may not stand there: write it as \(escape)"
        }
    }
}

extension URLHost.Problem {
    /// Returns what is wrong with a host, and what would be right.
    ///
    /// - Parameter given: The text that contains the host, with a word for its kind.
    package func words(on given: String) -> String {
        switch self {
        case .empty: return "\(given) has no host: write one such as 127.0.0.1"
        case .character(let scalar, _):
            let better = scalar.isASCII ? "letters, digits, dots and hyphens only" : "the ASCII form, xn--…"
            return "\(given) has \(quoted(String(scalar))) in its host: use \(better)"
        case .length:
            return "\(given) has no usable host name: labels are 1 to 63 bytes, a name at most 253"
        case .number: return "\(given) has no IPv4 address for a host: write four numbers from 0 to 255"
        case .ipv6Literal: return "\(given) has no IPv6 address in its brackets: write [::1]"
        case .zone: return "\(given) has a zone in its IPv6 address, which no URL can hold: leave it out"
        }
    }
}

/// What is wrong with a command line, a file, a text in one of them, or a system limit, and how to correct it: one
/// line. Each room says its own sentences.
///
/// volley prints it before anything starts, and ends with status 1.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// Whether a file is the reason: the description then begins with its name.
    package let isOfFile: Bool

    package init(_ description: String, isOfFile: Bool = false) {
        (self.description, self.isOfFile) = (description, isOfFile)
    }
}
