package import UncurlLoad

/// Why a worker cannot work or cannot take part in a test.
package enum LocustProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The load cannot be generated.
    case load(LoadTestError)
    /// The master's URL is https, but this worker was started without TLS.
    case notReadyForTLS(url: String)
    /// Neither the worker nor the master has a URL.
    case noTarget
    /// The worker pipelines requests, but the master asks for a rate.
    case pipelinedRate
    /// `target_rate` is not a rate.
    case rate(String, Rate.Problem)
    /// A rate is shared among users, but the master does not say how many there are.
    case unknownUsers
    /// The master's name has no address.
    case noAddress(String)
    /// No thread could be started to look up the master's name, for the system's reason.
    case thread(reason: String)
    /// No master answered for a minute. The error is that of the last attempt.
    case master(LocustError)

    /// One line that names the properties of a worker.
    package var description: String { text(.properties) }

    /// One line with the error and a remedy.
    package func text(_ names: SettingNames) -> String {
        switch self {
        case .load(let error): error.text(names)
        case .notReadyForTLS(let url):
            "\(quoted(url)) is https, but this worker was started without TLS: give it an https URL too"
        case .noTarget:
            "there is no URL to test: give the worker one, the locustfile a target_url or the master --host"
        case .pipelinedRate:
            "\(names[.pipeline]) is for a closed loop, but the master sets target_rate: leave one of them out"
        case .rate(let text, let problem):
            problem.words(on: "target_rate \(quoted(text))")
        case .unknownUsers:
            "target_rate is shared among users, but the master does not say how many: start it with -u"
        case .noAddress(let name): "the master \(quoted(name)) has no address"
        case .thread(let reason): "no thread can be started to look the master up: \(reason)"
        case .master(let error): "\(error): start a master there first"
        }
    }
}
