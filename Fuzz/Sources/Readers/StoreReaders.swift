@testable import URLLoading
@testable import UncurlSemantics

/// What another process, or this one before it was killed, has left on the disk. Each file comes as it is and with a
/// true checksum: what is behind that is reached by octets alone no more than once in 2^96 tries.
extension Reader {
    static let stores = [
        Reader("cache-file", of: "URLLoading/Stores/CacheFile") { octets in
            let key = CacheKey(method: "GET", url: "http://a.test/")
            for file in [octets, sealed(octets, .cacheEntry)] {
                _ = CacheFile.stored(file)
                guard let entry = CacheFile.decode(file, for: key),
                    let written = CacheFile.encode(entry, for: key, stored: Date(timeIntervalSince1970: 1))
                else { continue }
                require(CacheFile.decode(written, for: key)?.data == entry.data, "an entry is written as it was read")
            }
        },
        Reader("cache-notes", of: "URLLoading/Stores/CacheFile", rest: "what is in a file") { octets in
            guard let notes = CacheNote.decode(Data(octets)), let written = CacheNote.encode(notes) else { return }
            require(CacheNote.decode(written)?.count == notes.count, "notes are written as they were read")
        },
        Reader("journal-record", of: "URLLoading/Background/BackgroundRecord") { octets in
            for file in [octets, sealed(octets, .backgroundTask)] {
                guard let record = BackgroundRecord(file), let written = record.encoded() else { continue }
                require(BackgroundRecord(written) != nil, "a record that was read can be written and read")
            }
        },
        Reader("cookie-file", of: "URLLoading/Stores/CookieFile", rest: "the file's lock and place") { octets in
            for file in [octets, sealed(octets, .cookies)] {
                guard let entries: [CookieJar.Entry] = StoreRecord.value(of: file, .cookies),
                    let written = StoreRecord.file(.cookies, of: entries)
                else { continue }
                let again = StoreRecord.value(of: written, .cookies, as: [CookieJar.Entry].self)
                require(again?.count == entries.count, "cookies are written as they were read")
            }
        },
        Reader("foundation-cookies", of: "URLLoading/Stores/CookieFile") { octets in
            _ = CookieFile.foundation(octets, now: 1_700_000_000)
        },
        Reader("credential-file", of: "URLLoading/Stores/CredentialFile", rest: "the file's lock and place") {
            octets in
            for file in [octets, sealed(octets, .credentials)] {
                guard let table: CredentialTable = StoreRecord.value(of: file, .credentials),
                    let written = StoreRecord.file(.credentials, of: table)
                else { continue }
                require(
                    StoreRecord.value(of: written, .credentials, as: CredentialTable.self) != nil,
                    "credentials that were read can be written and read"
                )
            }
        },
        Reader("resume-data", of: "URLLoading/Stores/ResumeData", rest: "the sum of the file") { octets in
            let file = Data(octets)
            guard let data = ResumeData(file) ?? ResumeData(Data(sealed(octets, .download))) else { return }
            _ = data.hasPart(of: "/state")
            require(data.received > 0, "what is gone on from is not empty")
            for isSummed in [false, true] { _ = data.isUnread(isSummed: isSummed) }
            if let asked = data.askable { require(0 < asked.received && asked.received <= data.received, "a rest") }
            guard let again = data.data.flatMap({ ResumeData($0) }) else { return }
            require(again.received == data.received && again.path == data.path, "data is written as it was read")
            // The fields of earlier data are taken as a program's are, which drops what no field may hold.
            let fields = again.data.flatMap { ResumeData($0) }?.request.allHTTPHeaderFields
            require(fields == again.request.allHTTPHeaderFields, "a request is written as it was read")
        },
        Reader("upload-resume-data", of: "URLLoading/Uploads/UploadResumeData") { octets in
            guard let data = UploadResumeData(Data(sealed(octets, .upload))), let written = data.data else { return }
            require(UploadResumeData(written) != nil, "resume data that was read can be written and read")
        },
        Reader(
            "data-url",
            of: "URLLoading/LocalLoading/DataURL",
            text: { text in
                guard let url = URL(string: "data:\(text)") else { return }
                _ = DataURL(url)
            }
        ),
        Reader(
            "field-parameters",
            of: "URLLoading/Messages/FieldParameters",
            text: { text in
                let parameters = FieldParameters(text)
                for name in ["charset", "filename", "filename*"] { _ = parameters[name] }
            }
        ),
    ]
}

/// The octets as the fields of a file of the kind.
private func sealed(_ octets: [UInt8], _ kind: StoreRecord.Kind) -> [UInt8] {
    // The fields of octets are the octets.
    StoreRecord.file(kind, of: octets[...]) ?? []
}
