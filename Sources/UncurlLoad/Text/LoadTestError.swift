public import UncurlEngine

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
    /// A script and a visit exclude each other.
    case conflictingScripts
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
    public var description: String { text(.properties) }

    /// One line with the fault and the remedy.
    ///
    /// - Parameter names: The names of the settings in the line.
    package func text(_ names: SettingNames) -> String {
        switch self {
        case .url(let text, let problem): problem.words(on: text, names)
        case .notReadyForTLS(let url):
            "\(quoted(url)) is https and the test's own URL is not: give the test an https URL too"
        case .method(let method):
            "\(names[.method]) \(quoted(method)) is not a method: use a token such as GET or POST"
        case .connectMethod:
            "\(names[.method]) CONNECT opens a tunnel and has no response to measure: use another method"
        case .header(let text, let problem): Self.words(text, problem, names)
        case .unsendable(let error):
            "the request cannot be sent: \(error): change the URL, \(names[.headers]) or \(names[.method])"
        case .at(let place, let error): "\(place): \(error.text(names))"
        case .connectionsAndThreads(let connections, let threads):
            "\(connections) connections on \(threads) threads: each thread needs at least one, and there are limits"
        case .endless: "neither \(names[.duration]) nor \(names[.requests]) is set: the run would never end"
        case .conflictingPace: "\(names[.rate]), \(names[.stages]) and \(names[.think]) exclude each other: set one"
        case .conflictingScripts: "script and visit exclude each other: set one"
        case .time(let setting): "\(names[setting]) is to be more than 0 and at most 744 hours"
        case .rate(let number): "\(number) is no rate: use more than 0 and at most 1e9 requests a second"
        case .nothingDue:
            "no request comes due at that rate: use a higher \(names[.rate]) or a longer \(names[.duration])"
        case .descriptors(let connections, let needed, let allowed, let most):
            "\(names[.connections]) \(connections) needs \(needed) descriptors and this process may open \(allowed): "
                + "run `ulimit -Hn \(needed) && ulimit -Sn \(needed)` as root first, or use \(names[.connections]) \(most)"
        case .descriptorLimit(let needed):
            "the limit of descriptors cannot be raised: run `ulimit -Sn \(needed)` first"
        case .ports(let connections, let available, let sources, let sourcesNeeded):
            "\(names[.connections]) \(connections) needs as many local ports and there are \(available) for \(sources) source "
                + "address\(sources == 1 ? "" : "es"): give \(sourcesNeeded) with \(names[.sourceAddresses]), or run "
                + "`sysctl -w net.ipv4.ip_local_port_range='1024 65535'`"
        case .sourceAddress(let address, let reason):
            "\(names[.sourceAddresses]) \(address) cannot be connected from: \(reason): use one of this machine's (`ip address`)"
        case .threads(let count, let reason):
            "\(names[.threads]) \(count) threads cannot be started: \(reason): use a smaller \(names[.threads])"
        case .embeddedServer(let reason):
            "the embedded server cannot be started: \(reason): name a URL to test instead"
        case .unknownHost(let name, let reason):
            "the host \(quoted(name)) cannot be looked up: \(reason): correct the name, or use \(names[.connectTo])"
        case .interrupted(let host): "interrupted while looking up \(quoted(host)): nothing was started"
        case .authorities(let reason, let given?):
            "\(given): \(reason): name a readable file or directory of certificates in PEM"
        case .authorities(let reason, nil):
            "\(reason): name authorities with \(names[.authorities]), or use \(names[.isInsecure])"
        case .tls(let reason): "TLS cannot be set up: \(reason)"
        }
    }

    private static func words(_ text: String, _ problem: HeaderProblem, _ names: SettingNames) -> String {
        switch problem {
        case .noColon: "\(names[.headers]) \(quoted(text)) has no colon: write 'Name: value'"
        case .name:
            "\(names[.headers]) \(quoted(text)) has no usable name: letters, digits and !#$%&'*+-.^_`|~, then the colon"
        case .controlCharacter:
            "\(names[.headers]) \(quoted(text)) has a control character in its value: leave it out"
        case .framing:
            "\(names[.headers]) \(quoted(text)) is volley's own: the framing follows from \(names[.body])"
        case .secondHost: "\(names[.headers]) sets Host twice: a request has exactly one"
        }
    }
}
