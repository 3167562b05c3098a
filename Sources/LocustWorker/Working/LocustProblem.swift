package import LoadGenerator

/// Why a worker cannot work, or cannot take part in a test.
package enum LocustProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The load cannot be made.
    case load(LoadTestError)
    /// The master's URL is https, and this worker was not made ready for TLS.
    case notReadyForTLS(url: String)
    /// Neither the worker nor the master has a URL.
    case noTarget
    /// The worker pipelines, and the master asks for a rate.
    case pipelinedRate
    /// `target_rate` is no rate.
    case rate(String, Rate.Problem)
    /// A rate is shared out by users, and the master does not say how many there are.
    case unknownUsers
    /// The master's name has no address.
    case noAddress(String)
    /// No thread could be started to look the master's name up, for the system's reason.
    case thread(reason: String)
    /// No master answered for a minute; this is what came of the last attempt.
    case master(LocustError)

    /// One line, in the words of a worker's properties.
    package var description: String { text(.properties) }

    /// One line: what is wrong, and what would be right.
    package func text(_ names: SettingNames) -> String {
        switch self {
        case .load(let error): error.text(names)
        case .notReadyForTLS(let url):
            "\(quoted(url)) is https and this worker was started without it: give it an https URL too"
        case .noTarget:
            "there is no URL to test: give the worker one, the locustfile a target_url or the master --host"
        case .pipelinedRate:
            "\(names[.pipeline]) is for a closed loop, and the master says target_rate: leave one of them out"
        case .rate(let text, let problem):
            problem.words(on: "target_rate \(quoted(text))")
        case .unknownUsers:
            "target_rate is shared out by users, and the master does not say how many: start it with -u"
        case .noAddress(let name): "the master \(quoted(name)) has no address"
        case .thread(let reason): "no thread can be started to look the master up: \(reason)"
        case .master(let error): "\(error): start a master there first"
        }
    }
}
