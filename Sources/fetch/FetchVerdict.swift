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
