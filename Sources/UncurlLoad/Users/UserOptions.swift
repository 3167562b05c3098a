/// The actions of a virtual user beside sending the same request again.
package struct UserOptions: Sendable {
    /// Whether each user keeps the cookies that it receives.
    package var keepsCookies = false
    /// The cookies that each user has from the start, where it keeps cookies.
    package var cookies: [GivenCookie] = []
    /// The number of redirections in a row that are followed.
    package var redirects = 0
    package var checks = ResponseChecks()
    /// The places to fill in, in the texts of the request and of the inputs.
    package var slots = TemplateSlots()
    /// Makes each user's script, by the user's number. A script decides from each response what comes next.
    package var script: (@Sendable (Int) -> UserScript)?
    /// What a user does in a visit, as an asynchronous function in place of ``script``.
    package var visit: (@Sendable (LoadUser) async throws -> Void)?
    /// The names of the requests of scripts and visits in the figures.
    package var names: [String] = []

    package init() {}

    /// Whether a user has none of these actions.
    package var isPlain: Bool { !keepsCookies && redirects == 0 && checks.isEmpty && slots.isEmpty && !isScripted }

    /// Whether responses are read, not only counted.
    var inspects: Bool { keepsCookies || redirects > 0 || !checks.isEmpty || isScripted }

    /// Whether a program decides what comes next.
    package var isScripted: Bool { script != nil || visit != nil }
}
