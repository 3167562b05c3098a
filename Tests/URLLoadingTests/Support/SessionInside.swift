@testable import URLLoading

extension URLSession {
    /// Where a background session keeps its tasks; nil for one that has not got its identifier.
    var backgroundFolder: BackgroundFolder? { (keeper as? BackgroundSession)?.folder }

    /// Runs `call` on the session's loop. False where there is none.
    @discardableResult
    func post(_ call: @escaping @Sendable (SessionEngine) -> Void) -> Bool {
        (home as? LoopHome)?.post(call) ?? false
    }
}
