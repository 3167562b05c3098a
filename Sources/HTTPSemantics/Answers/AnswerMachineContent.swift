package import TLS

/// What an answer to a challenge takes of content that is not in memory.
extension AnswerMachine {
    /// How content that is not in memory is to be hashed before the next ``authorization(method:target:content:)``;
    /// nil: it is not.
    package var contentDigest: MessageDigest? {
        guard let authorizer = challenges.authorizer, authorizer.side == .origin else { return nil }
        return authorizer.contentDigest
    }

    /// The hash of the next request's content, by ``contentDigest``: one request uses it up.
    package mutating func take(contentHash: [UInt8]?) { challenges.authorizer?.take(contentHash: contentHash) }
}
