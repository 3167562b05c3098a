import Testing

@testable import URLLoading

@Suite("URLCredential")
struct URLCredentialTests {
    private let credential = URLCredential(user: "u", password: "p", persistence: .forSession)

    @Test("it holds what it was given, equal ones are equal, and a copy is the same object")
    func holding() {
        #expect(credential.user == "u" && credential.password == "p" && credential.hasPassword)
        #expect(credential.persistence == .forSession && credential.identity == nil && credential.certificates.isEmpty)
        #expect(credential == URLCredential(user: "u", password: "p", persistence: .forSession))
        #expect(credential.hash == URLCredential(user: "u", password: "p", persistence: .forSession).hash)
        #expect(credential != URLCredential(user: "u", password: "p", persistence: .permanent))
        #expect(credential != URLCredential(user: "u", password: "q", persistence: .forSession))
        #expect(credential.copy() as AnyObject === credential)
    }

    @Test("raw values are FoundationNetworking's")
    func rawValues() {
        #expect(URLCredential.Persistence.none.rawValue == 0 && URLCredential.Persistence.forSession.rawValue == 1)
        #expect(URLCredential.Persistence.permanent.rawValue == 2)
    }

    @Test("name and password survive archiving")
    func archiving() throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: credential, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: data)
        #expect(back == credential)
    }

    @Test("an archive without a credential's keys makes none, by an unarchiver that ends the process for a missing key")
    func emptyArchive() throws {
        let coder = NSKeyedArchiver(requiringSecureCoding: true)
        coder.finishEncoding()
        let decoder = try NSKeyedUnarchiver(forReadingFrom: coder.encodedData)
        decoder.requiresSecureCoding = true
        #expect(decoder.decodingFailurePolicy == .raiseException && URLCredential(coder: decoder) == nil)
    }

    @Test("an empty password is a password")
    func emptyPassword() {
        #expect(URLCredential(user: "u", password: "", persistence: .none).hasPassword)
    }
}
