/// What an exchange waits for on the program's side.
public enum Rest: Hashable, Sendable {
    /// Nothing.
    case none
    /// The answer to a question about its response. The limit on idle time goes on, even while the response is paused.
    case question
    /// The program has suspended it.
    case suspension
}
