/// What a virtual user does besides sending the same request again.
package struct UserOptions: Sendable {
    /// Each keeps the cookies it is given.
    package var keepsCookies = false
    /// Cookies that each has from the start, where it keeps cookies.
    package var cookies: [GivenCookie] = []
    /// How many redirections in a row are followed.
    package var redirects = 0
    package var checks = ResponseChecks()
    /// What the request's texts, and those of the inputs, leave open.
    package var slots = TemplateSlots()
    /// Decides by itself, from each response, what comes next; made for each user by its number.
    package var script: (@Sendable (Int) -> UserScript)?
    /// The same in async form, visit by visit.
    package var visit: (@Sendable (LoadUser) async throws -> Void)?
    /// What requests of scripts and visits are called in the figures.
    package var names: [String] = []

    package init() {}

    /// Nothing of all that.
    package var isPlain: Bool { !keepsCookies && redirects == 0 && checks.isEmpty && slots.isEmpty && !isScripted }

    /// Responses are looked at, not only counted.
    var inspects: Bool { keepsCookies || redirects > 0 || !checks.isEmpty || isScripted }

    /// A program decides what comes next.
    package var isScripted: Bool { script != nil || visit != nil }
}
