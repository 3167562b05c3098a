/// What a virtual user does besides sending the same request again.
package struct UserOptions: Sendable {
    /// Each keeps the cookies it is given.
    package var keepsCookies = false
    /// How many redirections in a row are followed.
    package var redirects = 0
    package var checks = ResponseChecks()
    /// What the request's texts, and those of the inputs, leave open.
    package var slots = TemplateSlots()
    /// Decides by itself, from each response, what comes next; made for each user by its number.
    package var script: (@Sendable (Int) -> UserScript)?

    package init() {}

    /// Nothing of all that.
    package var isPlain: Bool { !keepsCookies && redirects == 0 && checks.isEmpty && slots.isEmpty && script == nil }

    /// Responses are looked at, not only counted.
    var inspects: Bool { keepsCookies || redirects > 0 || !checks.isEmpty || script != nil }
}
